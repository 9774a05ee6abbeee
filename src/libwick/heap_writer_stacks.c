/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <wick/heap_writer.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "libwick/heap_writer_handle.h"
#include "libwick/public_error.h"
#include "libwick/sized_struct.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "model/sink.h"
#include "proc/process_info.h"
#include "process_stacks/process_tracker.h"
#include "recording/writer.h"

/* More frames are an error of the caller. */
#define MAX_FRAMES (1u << 17)
#define MAX_SPACE 255u

static int no_memory(int r, struct error *err)
{
	return r < 0 ? error_errno(err, r, "cannot store the recording") : 0;
}

int wick_heap_writer_frame(struct wick_heap_writer *writer, const struct wick_heap_frame *frame,
			   uint32_t *ret, struct wick_error *err)
{
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = need(frame, "the frame", &inner);
	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r == 0) {
		const struct place place = {
			.name = frame->function && frame->function[0] ? frame->function
								      : "[unknown]",
			.file = frame->file ? frame->file : "",
			.line = frame->line,
			.module = MODULE_NONE,
			.origin = frame->is_library ? ORIGIN_LIBRARY : ORIGIN_PROGRAM,
			.outer = PLACE_NONE,
		};

		r = no_memory(sink_place(writer->sink, &place, ret), &inner);
	}
	return r < 0 ? public_error(&inner, err) : 0;
}

/* Reads the maps of this process when its first address arrives. 0 or a negative errno. */
static int begin_tracking(struct wick_heap_writer *writer, struct error *err)
{
	uint32_t thread;
	int r;

	if (writer->tracker)
		return 0;
	writer->tracker = process_tracker_new(writer->sink);
	if (!writer->tracker)
		return error_set(err, -ENOMEM, "out of memory");
	r = process_tracker_seed(writer->tracker, writer->pid, err);
	if (r == 0)
		r = no_memory(process_tracker_sample(writer->tracker, writer->pid, writer->pid,
						     &writer->tracked, &thread),
			      err);
	if (r < 0) {
		process_tracker_free(writer->tracker);
		writer->tracker = NULL;
	}
	return r;
}

/* The frame of a return address. A module that was loaded meanwhile is looked up. */
static struct frame native_frame(struct wick_heap_writer *writer, uint64_t address, bool is_leaf)
{
	uint64_t now_ns = clock_monotonic_ns();
	/* Stacks of blocks end with an address in the call. */
	uint64_t at = is_leaf && address > 0 ? address - 1 : address;
	struct frame frame = tracked_process_frame(writer->tracked, now_ns, at);

	if (frame.kind == FRAME_NATIVE && frame.a == MODULE_NONE &&
	    process_tracker_refresh(writer->tracker, writer->tracked, now_ns))
		frame = tracked_process_frame(writer->tracked, now_ns, at);
	return frame;
}

static int add_native(struct wick_heap_writer *writer, const struct wick_heap_stack *stack,
		      struct error *err)
{
	int r = begin_tracking(writer, err);

	for (size_t i = stack->address_count; i-- > 0 && r == 0;)
		if (vec_push(&writer->frames, native_frame(writer, stack->addresses[i], i == 0)) <
		    0)
			r = error_set(err, -ENOMEM, "out of memory");
	return r;
}

static int check_stack(const struct wick_heap_writer *writer, const struct wick_heap_stack *stack,
		       struct error *err)
{
	size_t places = recording_writer_dictionary(writer->writer)->places.count;

	if (stack->frame_count > MAX_FRAMES || stack->address_count > MAX_FRAMES)
		return error_advise(err,
				    error_set(err, -E2BIG, "a stack has %zu frames",
					      stack->frame_count + stack->address_count),
				    "cut it to %u frames, and set cut", MAX_FRAMES);
	if ((stack->frame_count > 0 && !stack->frames) ||
	    (stack->address_count > 0 && !stack->addresses))
		return need(NULL, "the list of frames", err);
	for (size_t i = 0; i < stack->frame_count; i++)
		if (stack->frames[i] >= places)
			return error_advise(
				err,
				error_set(err, -ENOENT, "there is no frame %u", stack->frames[i]),
				"use ids from wick_heap_writer_frame()");
	return 0;
}

static int add_stack(struct wick_heap_writer *writer, const struct wick_heap_stack *stack,
		     uint32_t *ret, struct error *err)
{
	int r = check_stack(writer, stack, err);

	if (r < 0)
		return r;
	writer->frames.count = 0;
	if (vec_reserve(&writer->frames, stack->frame_count + 1) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (stack->cut > 0)
		writer->frames.items[writer->frames.count++] =
			(struct frame){.kind = FRAME_TRUNCATED, .b = stack->cut};
	for (size_t i = 0; i < stack->frame_count; i++)
		writer->frames.items[writer->frames.count++] =
			(struct frame){.kind = FRAME_CUSTOM, .a = stack->frames[i]};
	if (stack->address_count > 0)
		r = add_native(writer, stack, err);
	return r < 0 ? r
		     : no_memory(sink_stack(writer->sink, writer->frames.items,
					    writer->frames.count, ret),
				 err);
}

int wick_heap_writer_stack(struct wick_heap_writer *writer, const struct wick_heap_stack *stack,
			   uint32_t *ret, struct wick_error *err)
{
	struct wick_heap_stack asked;
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = need(stack, "the stack", &inner);
	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r == 0)
		r = sized_take(&asked, sizeof(asked), stack, "wick_heap_stack", &inner);
	if (r == 0)
		r = add_stack(writer, &asked, ret, &inner);
	return r < 0 ? public_error(&inner, err) : 0;
}

int wick_heap_writer_thread(struct wick_heap_writer *writer, uint32_t tid, const char *name,
			    uint32_t *ret, struct wick_error *err)
{
	char comm[PROCESS_COMM_MAX] = "";
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r == 0) {
		struct thread thread = {.process = writer->process, .tid = tid, .comm = name};

		if (!name && process_thread_comm(writer->pid, (pid_t)tid, comm, sizeof(comm)) < 0)
			comm[0] = '\0'; /* it has ended: nobody knows its name */
		if (!name)
			thread.comm = comm;
		r = no_memory(sink_thread(writer->sink, &thread, ret), &inner);
	}
	return r < 0 ? public_error(&inner, err) : 0;
}

static int check_site(const struct wick_heap_writer *writer, const struct wick_heap_site *site,
		      struct error *err)
{
	const struct dictionary *dictionary = recording_writer_dictionary(writer->writer);

	if (!heap_writer_is_site(site->number) || site->space > MAX_SPACE)
		return error_advise(err,
				    error_set(err, -ERANGE, "invalid site %u in space %u",
					      site->number, site->space),
				    "sites are below %u, spaces at most %u", WICK_HEAP_SITES,
				    MAX_SPACE);
	if (site->stack == WICK_HEAP_HIDDEN)
		return 0;
	if (site->stack >= dictionary->stacks.nodes.count ||
	    site->thread >= dictionary->threads.count)
		return error_advise(err,
				    error_set(err, -ENOENT, "there is no stack %u or no thread %u",
					      site->stack, site->thread),
				    "use ids from wick_heap_writer_stack() and _thread()");
	return 0;
}

int heap_writer_reserve(struct wick_heap_writer *writer, uint32_t number)
{
	static const struct heap_writer_site none = {.stack = ID_NONE};

	while (writer->sites.count <= heap_writer_place_of(number))
		if (vec_push(&writer->sites, none) < 0)
			return -ENOMEM;
	return 0;
}

int wick_heap_writer_site(struct wick_heap_writer *writer, const struct wick_heap_site *site,
			  struct wick_error *err)
{
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = need(site, "the site", &inner);
	if (r == 0)
		r = check_site(writer, site, &inner);
	if (r == 0)
		r = no_memory(heap_writer_reserve(writer, site->number), &inner);
	if (r < 0)
		return public_error(&inner, err);
	writer->sites.items[heap_writer_place_of(site->number)] = (struct heap_writer_site){
		.stack = site->stack == WICK_HEAP_HIDDEN ? 0 : site->stack,
		.thread = site->stack == WICK_HEAP_HIDDEN ? writer->main_thread : site->thread,
		.space = (uint8_t)site->space,
		.is_hidden = site->stack == WICK_HEAP_HIDDEN};
	return 0;
}
