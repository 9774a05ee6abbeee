/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_OTLP_DICTIONARY_H
#define WICK_IMPORT_OTLP_DICTIONARY_H

/*
 * otlp_dictionary: the tables of an OpenTelemetry profile, which everything else refers to by
 * number. A number that is out of range means nothing, like 0.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "model/entity.h"
#include "model/strings.h"

struct import_builder;

enum otlp_table {
	OTLP_MAPPINGS = 1,
	OTLP_LOCATIONS = 2,
	OTLP_FUNCTIONS = 3,
	OTLP_ATTRIBUTES = 6,
	OTLP_STACKS = 7,
	OTLP_TABLES = 8
};

struct otlp_item {
	struct cursor body;
	uint32_t made; /* the place of a location, the module of a mapping; ID_NONE: none yet */
};

struct otlp_dictionary {
	struct import_builder *builder; /* borrowed */
	struct strings texts;           /* copies with NULs at their ends */
	VEC(uint32_t) strings;
	struct {
		VEC(struct otlp_item) items;
	} tables[OTLP_TABLES];
};

/* What is known about a sample besides its stack. Texts belong to the dictionary. */
struct otlp_labels {
	struct label items[LABELS_MAX];
	size_t count;
	const char *process;
	const char *thread;
	uint32_t pid;
	uint32_t tid;
};

int otlp_dictionary_init(struct otlp_dictionary *dictionary, struct import_builder *builder);
void otlp_dictionary_fini(struct otlp_dictionary *dictionary);

/* Finds the dictionary in the whole message. 0, -ENOMEM or -EBADMSG. */
int otlp_dictionary_read(struct otlp_dictionary *dictionary, struct cursor in);

const char *otlp_text(const struct otlp_dictionary *dictionary, uint64_t number);
struct cursor otlp_stack(const struct otlp_dictionary *dictionary, uint64_t number);

/* The frame of a location, created at first use. 0 or -ENOMEM. */
int otlp_frame(struct otlp_dictionary *dictionary, uint64_t location, struct frame *ret);

/* Adds the attributes of a resource, or the attribute with this number. */
void otlp_resource_labels(struct otlp_dictionary *dictionary, struct cursor resource,
			  struct otlp_labels *labels);
void otlp_attribute_label(struct otlp_dictionary *dictionary, uint64_t number,
			  struct otlp_labels *labels);

#endif
