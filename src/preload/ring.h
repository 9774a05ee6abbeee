/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_RING_H
#define WICK_PRELOAD_RING_H

/*
 * ring: what a thread writes for the recorder. One writer, which its own signal
 * handlers stay out of (thread->busy), and one reader in another process.
 */

#include <stdint.h>

struct preload_thread;

struct ring_sample {
	uint64_t ticks;
	uint64_t weight_ns;
	uint32_t cpu;
	uint16_t flags;
	uint32_t count; /* of thread->pcs, leaf first */
};

/* Counts samples that were not taken, and their weight. */
void ring_lose(struct preload_thread *thread, uint64_t samples, uint64_t weight_ns);

/* Writes a sample, or counts it as lost. */
void ring_put_sample(struct preload_thread *thread, const struct ring_sample *sample);

/* Texts one after the other, each with its NUL. */
struct ring_texts {
	const char *bytes;
	uint32_t size;
};

/* The same of an event, with its texts: name, unit, labels. */
void ring_put_event(struct preload_thread *thread, const struct ring_sample *sample,
		    struct ring_texts texts);

/* The labels of the thread from here on. */
void ring_put_labels(struct preload_thread *thread, struct ring_texts texts);

#endif
