/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_WAKERS_H
#define WICK_ENGINE_EBPF_WAKERS_H

/*
 * wakers: the stacks of threads that wake other threads.
 *
 * The record of a waker comes before that of the thread that it wakes. Both become one stack:
 * that of the sleeper, then a frame [woken by], then a frame that names the waker, then the
 * waker's stack from its root on. So every view of stacks shows wakers, and the file format
 * needs nothing new.
 *
 *	main;wait_here;…;__schedule;[woken by];worker/1234;start;wake_here;…
 *
 * A thread that an interrupt wakes has no waker: the frame is [timer] or [interrupt], followed
 * by the kernel's frames from the interrupt on.
 */

#include <stddef.h>
#include <stdint.h>

struct bpf_programs;
struct engine_config;
struct frame;
struct sample_record;
struct wakers;

/* Keeps no pointer to config. NULL: out of memory. */
struct wakers *wakers_new(const struct engine_config *config);
void wakers_free(struct wakers *wakers); /* NULL is fine */

/* Keeps the stack of a waker until the record of the woken thread comes. */
void waker_keep(struct bpf_programs *programs, struct sample_record *sample);

/*
 * The id of a sleeper's stack joined with that of its waker, which is used only once; ID_NONE:
 * the waker is unknown.
 */
uint32_t waker_join(struct bpf_programs *programs, uint32_t tid, const struct frame *frames,
		    size_t count);

#endif
