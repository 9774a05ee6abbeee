/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_PUSH_MESSAGE_H
#define WICK_SERVER_PUSH_PUSH_MESSAGE_H

/* push_message: a PushRequest of Pyroscope, as protobuf or as JSON. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct store_label;

struct push_sample {
	const struct store_label *labels;
	size_t label_count;
	const char *id; /* "": none */
	const uint8_t *data;
	size_t size;
};

typedef int push_sample_fn(void *self, const struct push_sample *sample, struct error *err);

/* Calls fn for each profile; a negative result ends it. */
int push_message_read(const void *data, size_t size, bool is_json, push_sample_fn *fn, void *self,
		      struct error *err);

#endif
