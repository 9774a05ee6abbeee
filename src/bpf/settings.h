/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_SETTINGS_H
#define WICK_BPF_SETTINGS_H

/* settings: set by the engine before the programs are loaded; constants after that. */

#include <stdbool.h>
#include <stdint.h>

#include "wire/bpf_walk.h"

const volatile bool with_kernel = true;    /* kernel frames too */
const volatile uint32_t depth = 512;       /* user frames of a stack */
const volatile bool with_counters = false; /* the kernel writes those of a group behind it */

/* The pid namespace that ids are told in; 0: they are told as the kernel counts. */
const volatile uint32_t namespace_inode = 0;

/* Of threads that are off their CPUs: whom to watch, and what is too short to tell. */
const volatile uint32_t watch_by = BPF_WALK_BY_PROCESS;
const volatile bool watch_children = true;
const volatile uint64_t watch_cgroup = 0;
const volatile uint64_t least_away_ns = 0;

/*
 * How often the stack of a thread is taken at a place that it leaves its CPU from again and
 * again: about once in that time. 0: each time.
 */
volatile uint64_t away_gap_ns = 0;
/* In a pause nothing is kept of who leaves; and when the last pause was over. */
volatile bool away_paused = false;
volatile uint64_t away_resumed_ns = 0;

/* Set when the rings are there: what one holds, and how often all have been emptied. */
volatile uint32_t ring_bytes = 0;
volatile uint32_t drains = 0;

/* The share of the samples that are not taken, of BPF_WALK_ALL. */
volatile uint32_t left_out = 0;

#endif
