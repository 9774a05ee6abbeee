/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_WAKERS_H
#define WICK_ENGINE_EBPF_WAKERS_H

/*
 * wakers: the stacks of those who wake threads that are off their CPUs.
 *
 * The record of a waker comes before that of the thread that it wakes. Both become
 * one stack: that of the sleeper, then a frame [woken by], then a frame that names
 * the waker, then the waker's stack from its root on. So whatever shows stacks
 * shows wakers, and a file needs nothing new.
 *
 *	main;wait_here;…;__schedule;[woken by];worker/1234;start;wake_here;…
 *
 * What an interrupt wakes has no waker; [timer] or [interrupt] stands there, with
 * the kernel's frames from the interrupt on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_config;
struct frame;
struct bpf_programs;
struct sample_record;
struct wakers;

/* Borrows nothing. NULL without memory. */
struct wakers *wakers_new(const struct engine_config *config);
void wakers_free(struct wakers *wakers); /* NULL is fine */

bool waker_is(const struct sample_record *sample);

/* Keeps what a record tells until that of the woken thread comes. */
void waker_keep(struct bpf_programs *programs, struct sample_record *sample);

/*
 * The stack of a thread that slept, with that of who woke it; ID_NONE when nobody
 * knows who that was. What is known is for one sleep alone.
 */
uint32_t waker_join(struct bpf_programs *programs, uint32_t tid, const struct frame *frames,
		    size_t count);

#endif
