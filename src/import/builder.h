/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_BUILDER_H
#define WICK_IMPORT_BUILDER_H

/*
 * builder: importers write to it; it makes a recording of places with names.
 *
 * Times count from IMPORT_START_NS on the recording's clock, because 0 means "unknown" to readers.
 */

#include <stddef.h>
#include <stdint.h>

struct error;
struct frame;
struct import_host;
struct import_kernel;
struct import_origin;
struct label;
struct place;
struct recording_writer;
struct import_builder;

#define IMPORT_START_NS 1000000000ull

struct import_sample {
	const struct frame *frames; /* root first */
	size_t frame_count;
	uint32_t thread;
	const struct label *labels;
	size_t label_count;
	uint64_t since_ns; /* since the start */
	uint64_t times;    /* samples that it represents; 0 counts as 1 */
	uint64_t weight;
};

/*
 * Takes over output and closes it; if it is -1, the recording is kept in memory. Borrows the host,
 * which may be NULL.
 */
int import_builder_new(int output, const struct import_host *host, struct import_builder **ret,
		       struct error *err);
void import_builder_free(struct import_builder *builder); /* NULL is fine */

/* For facts about the session, modules and clocks; borrowed. */
struct recording_writer *import_builder_writer(struct import_builder *builder);

/* The same; the caller becomes its owner. */
struct recording_writer *import_builder_take_writer(struct import_builder *builder);

/* Defines what weights mean. Call it before the first sample. Returns 0 or a negative errno. */
int import_schema(struct import_builder *builder, const char *event, const char *value,
		  const char *unit, uint64_t period);

/* Selects the schema, by index, of the samples that follow; by default the last one. */
void import_choose_schema(struct import_builder *builder, uint32_t schema);

/* Each returns 0 and the id, or -ENOMEM. */
int import_place(struct import_builder *builder, const struct place *place, uint32_t *ret);
int import_thread(struct import_builder *builder, uint32_t pid, uint32_t tid, const char *comm,
		  const char *process, uint32_t *ret);

int import_sample(struct import_builder *builder, const struct import_sample *sample,
		  struct error *err);

/* Lets the host name the kernel functions in the stacks so far, if it knows the kernel. */
void import_kernel_names(struct import_builder *builder, const struct import_kernel *kernel);

/* The same for JIT-compiled code, from the list of its runtime. */
void import_jit_names(struct import_builder *builder, const struct import_origin *origin);

/* The input is cut off: the recording gets no end mark, as if it were cut off itself. */
void import_set_incomplete(struct import_builder *builder);

/* Writes the end mark. */
int import_finish(struct import_builder *builder, uint64_t duration_ns, struct error *err);

#endif
