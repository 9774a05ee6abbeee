/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_WRITER_H
#define WICK_HEAP_WRITER_H

/*
 * heap_writer: writes a recording of allocations that a program observes itself, such as those of
 * an interpreter. All wick commands read it like a recording of wick heap, even while it grows and
 * after the program was killed.
 *
 *	struct wick_heap_frame frame = {.function = "parse", .file = "app.py", .line = 12};
 *	struct wick_heap_stack stack = {.size = sizeof(stack), .frame_count = 1};
 *	struct wick_heap_event event = {.op = WICK_HEAP_ALLOC, .time_ns = …, .address = …};
 *	struct wick_heap_writer *writer;
 *	uint32_t parse, stack_id, thread;
 *
 *	wick_heap_writer_open("app.wick", NULL, &writer, &err);
 *	wick_heap_writer_frame(writer, &frame, &parse, &err);
 *	stack.frames = &parse;
 *	wick_heap_writer_stack(writer, &stack, &stack_id, &err);
 *	wick_heap_writer_thread(writer, gettid(), "main", &thread, &err);
 *	wick_heap_writer_site(writer, &(struct wick_heap_site){.number = 0, .stack = stack_id,
 *			      .thread = thread}, &err);
 *	wick_heap_writer_add(writer, &event, 1, &err);
 *	wick_heap_writer_flush(writer, &err);
 *	…
 *	wick_heap_writer_finish(writer, &err);
 *	wick_heap_writer_close(writer);
 *
 * If writing fails, for example because the disk is full, the file keeps everything up to the last
 * successful flush, and all later calls fail in the same way.
 *
 * Structs begin with their size, as in <wick/profile.h>, except those that come in large numbers.
 *
 * Threads: a writer is used by one thread at a time. A forked child must not use the writer of its
 * parent: all calls fail with -ECHILD, except wick_heap_writer_close(). Do not call these functions
 * from signal handlers.
 */

#include <stddef.h>
#include <stdint.h>

#include <wick/error.h>
#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_heap_writer;

struct wick_heap_options {
	size_t size;        /* sizeof(struct wick_heap_options) */
	const char *title;  /* what is recorded; NULL: the name of the program */
	const char *source; /* who records, as the engine of the recording; NULL: "program" */
	uint64_t start_ns;  /* CLOCK_MONOTONIC: when the recording began; 0: now */
	/*
	 * Which blocks are recorded: all if both are 0. Each block with probability 1 - exp(-(size
	 * + sample_extra) / sample_bytes), or each with the same probability, regardless of its
	 * size.
	 */
	uint64_t sample_bytes;
	double probability; /* above 0, up to 1 */
	/*
	 * The allocator rounds sizes up to a multiple of this many bytes, a power of two. Views
	 * report the difference as slack. 0: unknown.
	 */
	uint32_t block_unit;
	/* 1: the file appears under its name, complete, when wick_heap_writer_finish() returns */
	uint32_t whole;
	uint32_t sample_extra; /* bytes that count in addition to the size of each block */
};

/*
 * Opens a recording and writes its beginning. Only the user can read the file. As for all results
 * of wick, a file or link that another user may have put there is refused. Returns -EBUSY if
 * another recording is being written to it.
 */
WICK_API int wick_heap_writer_open(const char *path, const struct wick_heap_options *options,
				   struct wick_heap_writer **ret, struct wick_error *err);
/*
 * Releases without writing anything more. NULL is fine. In a forked child it only closes the
 * child's descriptor.
 */
WICK_API void wick_heap_writer_close(struct wick_heap_writer *writer);

/* A place in the program that is known by name. NULL means unknown for both texts. */
struct wick_heap_frame {
	const char *function;
	const char *file;
	uint32_t line;       /* 0: unknown */
	uint32_t is_library; /* 1: not code of the program itself */
};

/* Equal frames have the same id. The same holds for stacks and threads. */
WICK_API int wick_heap_writer_frame(struct wick_heap_writer *writer,
				    const struct wick_heap_frame *frame, uint32_t *ret,
				    struct wick_error *err);

struct wick_heap_stack {
	size_t size;            /* sizeof(struct wick_heap_stack) */
	const uint32_t *frames; /* ids, root first */
	size_t frame_count;
	/*
	 * Machine code that the innermost frame called: return addresses of this process,
	 * innermost first. They are stored as module and offset, and named when the file is read.
	 */
	const uint64_t *addresses;
	size_t address_count;
	uint32_t cut; /* how many of the outermost frames are missing */
};

WICK_API int wick_heap_writer_stack(struct wick_heap_writer *writer,
				    const struct wick_heap_stack *stack, uint32_t *ret,
				    struct wick_error *err);

/* A thread of this process. `name` NULL: what the kernel calls it. */
WICK_API int wick_heap_writer_thread(struct wick_heap_writer *writer, uint32_t tid,
				     const char *name, uint32_t *ret, struct wick_error *err);

/* Where blocks are allocated. */
struct wick_heap_site {
	/*
	 * Chosen by the caller. Small numbers save memory; the highest bit may be set, for a second
	 * list of sites.
	 */
	uint32_t number;
	uint32_t stack; /* WICK_HEAP_HIDDEN: events of this site are left out */
	uint32_t thread;
	uint32_t space; /* 0 … 255: addresses in different spaces are different blocks */
};

#define WICK_HEAP_HIDDEN UINT32_MAX

/* Without their highest bit, numbers are below this. */
#define WICK_HEAP_SITES (1u << 27)

/* A later definition of a number replaces the earlier one. */
WICK_API int wick_heap_writer_site(struct wick_heap_writer *writer,
				   const struct wick_heap_site *site, struct wick_error *err);

enum wick_heap_op {
	WICK_HEAP_ALLOC = 1,
	WICK_HEAP_FREE = 2,
	WICK_HEAP_FORGET = 3, /* all live blocks count as freed */
	WICK_HEAP_MARK = 4,   /* `size` is the number of the mark */
};

struct wick_heap_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0: as the event before, or when the recording began */
	uint64_t address; /* below 2^56 */
	uint64_t size;    /* as requested; not used for frees */
	uint32_t site;    /* of a free: that of the block, or another one of its space */
	uint8_t op;       /* enum wick_heap_op */
	uint8_t zero[3];
};

/*
 * Looks for sites in events that are not defined yet, and returns up to `max` different ones in
 * ret. Returns their number; if it is `max`, there may be more. Marks and FORGET have no site.
 */
WICK_API int64_t wick_heap_writer_new_sites(struct wick_heap_writer *writer,
					    const struct wick_heap_event *events, size_t count,
					    uint32_t *ret, size_t max);

/*
 * Adds events in the order in which they happened; an event whose time is earlier than that of the
 * event before it gets the same time as that event. Returns -ENOENT if a site is not defined, and
 * -EINVAL for an invalid event; then no event was added.
 */
WICK_API int wick_heap_writer_add(struct wick_heap_writer *writer,
				  const struct wick_heap_event *events, size_t count,
				  struct wick_error *err);

/* Events are missing here. Views show how many. */
WICK_API int wick_heap_writer_lost(struct wick_heap_writer *writer, uint64_t count,
				   struct wick_error *err);

/*
 * Names the mark `number`, for later WICK_HEAP_MARK events. Marks become an event "mark" with the
 * name as the label "mark": see docs/reference/user-events.md. Numbers are below WICK_HEAP_MARKS.
 */
#define WICK_HEAP_MARKS (1u << 20)
WICK_API int wick_heap_writer_name_mark(struct wick_heap_writer *writer, uint32_t number,
					const char *name, struct wick_error *err);

/* Writes all that was added as complete, compressed chunks: from then on readers see it. */
WICK_API int wick_heap_writer_flush(struct wick_heap_writer *writer, struct wick_error *err);

/* Flushes and writes the end mark: the recording is complete. Nothing can be added any more. */
WICK_API int wick_heap_writer_finish(struct wick_heap_writer *writer, struct wick_error *err);

/* Bytes in the file so far. */
WICK_API uint64_t wick_heap_writer_bytes(const struct wick_heap_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
