/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_HEAP_STREAM_H
#define WICK_TESTS_HEAP_STREAM_H

/*
 * heap_stream: events of a heap, made by hand and fed to an analysis. Times count from
 * STREAM_NS. Threads 0 and 1 are of one process, thread 2 of another.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/id_index.h"
#include "heap/analysis.h"
#include "heap/report.h"
#include "model/dictionary.h"
#include "model/heap_event.h"

#define STREAM_NS 1000000000u

struct stream {
	struct dictionary dictionary;
	struct heap_analysis *analysis;
};

static inline void stream_open(struct stream *stream, struct heap_config config)
{
	assert_int_equal(dictionary_init(&stream->dictionary), 0);
	for (uint32_t i = 0; i < 2; i++)
		(void)dictionary_process(
			&stream->dictionary,
			&(struct process){.pid = 10 + i, .comm = "p", .executable = ""});
	for (uint32_t i = 0; i < 3; i++)
		(void)dictionary_thread(
			&stream->dictionary,
			&(struct thread){.process = i / 2, .tid = 10 + i, .comm = "t"});
	config.dictionary = &stream->dictionary;
	config.begin_ns = STREAM_NS;
	assert_int_equal(heap_analysis_new(&config, &stream->analysis), 0);
}

static inline void stream_put(struct stream *stream, uint32_t thread, struct heap_event event)
{
	event.time_ns += STREAM_NS;
	/* A free has one if it is said. */
	if (event.op != HEAP_ALLOC && event.op != HEAP_TOTAL && event.stack == 0)
		event.stack = ID_NONE;
	assert_int_equal(
		heap_analysis_batch(stream->analysis, &(struct heap_batch){thread, 1, &event}), 0);
}

static inline void stream_alloc(struct stream *stream, uint32_t thread, uint64_t time_ns,
				uint64_t address, uint64_t size, uint32_t stack)
{
	stream_put(stream, thread,
		   (struct heap_event){
			   .time_ns = time_ns, .address = address, .size = size, .stack = stack});
}

static inline void stream_do(struct stream *stream, enum heap_op op, uint32_t thread,
			     uint64_t time_ns, uint64_t address)
{
	stream_put(stream, thread,
		   (struct heap_event){.time_ns = time_ns, .address = address, .op = (uint8_t)op});
}

static inline void stream_free(struct stream *stream, uint32_t thread, uint64_t time_ns,
			       uint64_t address)
{
	stream_do(stream, HEAP_FREE, thread, time_ns, address);
}

static inline void stream_realloc(struct stream *stream, uint32_t thread, uint64_t time_ns,
				  uint64_t address, uint64_t size, uint32_t stack)
{
	stream_put(stream, thread,
		   (struct heap_event){.time_ns = time_ns,
				       .address = address,
				       .size = size,
				       .stack = stack,
				       .call = HEAP_REALLOC});
}

static inline const struct heap_report *stream_finish(struct stream *stream)
{
	assert_int_equal(heap_analysis_finish(stream->analysis), 0);
	return heap_analysis_report(stream->analysis);
}

static inline void stream_close(struct stream *stream)
{
	heap_analysis_free(stream->analysis);
	dictionary_fini(&stream->dictionary);
}

/* The site of a stack: there must be one. */
static inline uint32_t site_of(const struct heap_report *report, uint32_t stack)
{
	for (uint32_t i = 0; i < report->sites.sites.count; i++)
		if (report->sites.sites.items[i].stack == stack)
			return i;
	fail_msg("stack %u has no site", stack);
	return 0;
}

#endif
