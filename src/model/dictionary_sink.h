/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_DICTIONARY_SINK_H
#define WICK_MODEL_DICTIONARY_SINK_H

/*
 * dictionary_sink: operations of a sink that keeps names in a dictionary, as members of its ops.
 * The sink's object must begin with the dictionary:
 *
 *	struct writer {
 *		struct dictionary dictionary;
 *		…
 *	};
 */

#include <stddef.h>
#include <stdint.h>

struct frame;
struct label;
struct module;
struct place;
struct process;
struct thread;

/* 0 and the id, or -ENOMEM, and *ret_id is untouched. */
int dictionary_sink_module(void *self, const struct module *module, uint32_t *ret_id);
int dictionary_sink_process(void *self, const struct process *process, uint32_t *ret_id);
int dictionary_sink_thread(void *self, const struct thread *thread, uint32_t *ret_id);
int dictionary_sink_place(void *self, const struct place *place, uint32_t *ret_id);
int dictionary_sink_stack(void *self, const struct frame *frames, size_t n, uint32_t *ret_id);
/* Or -E2BIG: more than LABELS_MAX. */
int dictionary_sink_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id);

#endif
