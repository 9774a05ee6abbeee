/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_BUILDER_H
#define WICK_IMPORT_BUILDER_H

/*
 * builder: what importers write to: a recording of places with names.
 *
 * Times count from IMPORT_START_NS on the recording's clock, since 0 means "not
 * known" to readers.
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
	const struct frame *frames; /* the root first */
	size_t frame_count;
	uint32_t thread;
	const struct label *labels;
	size_t label_count;
	uint64_t since_ns; /* since the start */
	uint64_t times;    /* samples that it stands for; 0 counts as 1 */
	uint64_t weight;
};

/*
 * Takes over output, which it closes; without one (-1) the recording is kept in memory.
 * Borrows the host, which may be NULL.
 */
int import_builder_new(int output, const struct import_host *host, struct import_builder **ret,
		       struct error *err);
void import_builder_free(struct import_builder *builder); /* NULL is fine */

/* For facts about the session, modules and clocks; borrowed. */
struct recording_writer *import_builder_writer(struct import_builder *builder);

/* The same, which from now on is the caller's. */
struct recording_writer *import_builder_take_writer(struct import_builder *builder);

/* What weights mean. To be called before samples come. 0 or a negative errno. */
int import_schema(struct import_builder *builder, const char *event, const char *value,
		  const char *unit, uint64_t period);

/* Which of several schemas, by their order, the samples that follow are of; else the last. */
void import_choose_schema(struct import_builder *builder, uint32_t schema);

/* Each returns 0 and the id or frame, or -ENOMEM. */
int import_place(struct import_builder *builder, const struct place *place, uint32_t *ret);
int import_thread(struct import_builder *builder, uint32_t pid, uint32_t tid, const char *comm,
		  const char *process, uint32_t *ret);

int import_sample(struct import_builder *builder, const struct import_sample *sample,
		  struct error *err);

/* Lets the host name the kernel functions of the stacks so far, if it knows the kernel. */
void import_kernel_names(struct import_builder *builder, const struct import_kernel *kernel);

/* The same for code that a runtime made: its own list tells. */
void import_jit_names(struct import_builder *builder, const struct import_origin *origin);

/* What is read lacks its end: the recording gets no end mark, as one that was cut itself. */
void import_set_incomplete(struct import_builder *builder);

/* Writes the end. */
int import_finish(struct import_builder *builder, uint64_t duration_ns, struct error *err);

#endif
