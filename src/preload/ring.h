/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_RING_H
#define WICK_PRELOAD_RING_H

/*
 * ring: the records of a thread for the recorder. One writer, whose own signal handlers stay out
 * (thread->busy), and one reader in another process.
 */

#include <stdbool.h>
#include <stdint.h>

struct preload_thread;

struct ring_sample {
	uint64_t ticks;
	uint64_t weight_ns;
	uint32_t cpu;
	uint16_t flags;
	uint32_t count; /* number of thread->pcs, leaf first */
};

/* Counts lost samples and their weight. */
void ring_lose(struct preload_thread *thread, uint64_t samples, uint64_t weight_ns);

/* Writes a sample, or counts it as lost. */
void ring_put_sample(struct preload_thread *thread, const struct ring_sample *sample);

/* Consecutive NUL-terminated texts. */
struct ring_texts {
	const char *bytes;
	uint32_t size;
};

/* The same for an event, with its texts: name, unit, labels. */
void ring_put_event(struct preload_thread *thread, const struct ring_sample *sample,
		    struct ring_texts texts);

/* Writes the labels that the thread has from now on. */
void ring_put_labels(struct preload_thread *thread, struct ring_texts texts);

/* A part of the program's memory. */
struct ring_part {
	uint64_t address; /* of a word */
	uint32_t bytes;
};

/* Writes a code object and what it refers to: SESSION_CODE_PARTS. False if there is no room. */
bool ring_put_code(struct preload_thread *thread, const struct ring_part *parts);

/* The words of such a record, and its contents, for writers that find a place for it themselves. */
uint32_t ring_code_words(const struct ring_part *parts);
void ring_write_code(uint64_t *place, uint32_t words, const struct ring_part *parts);

#endif
