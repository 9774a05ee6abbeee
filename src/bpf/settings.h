/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_SETTINGS_H
#define WICK_BPF_SETTINGS_H

/* settings: set by the engine before the programs are loaded; constant after that. */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/kernel.h"
#include "wire/bpf_walk.h"

SHARED const volatile bool with_kernel SET_TO(true);    /* kernel frames too */
SHARED const volatile uint32_t depth SET_TO(512);       /* user frames of a stack */
SHARED const volatile bool with_python SET_TO(false);   /* calls of Python functions */
SHARED const volatile bool with_counters SET_TO(false); /* the kernel appends those of a group */

/* The pid namespace in which ids are reported; 0: as the kernel counts them. */
SHARED const volatile uint32_t namespace_inode SET_TO(0);

/* For threads that are off their CPUs: what to watch, and what is too short to report. */
SHARED const volatile uint32_t watch_by SET_TO(BPF_WALK_BY_PROCESS);
SHARED const volatile bool watch_children SET_TO(true);
SHARED const volatile uint64_t watch_cgroup SET_TO(0);
SHARED const volatile uint64_t least_away_ns SET_TO(0);

/*
 * How often the stack of a thread is taken at a place where it leaves its CPU repeatedly: about
 * once in this time. 0: each time.
 */
SHARED volatile uint64_t away_gap_ns SET_TO(0);
/* During a pause nothing is kept about leaving threads; and when the last pause ended. */
SHARED volatile bool away_paused SET_TO(false);
SHARED volatile uint64_t away_resumed_ns SET_TO(0);

/* Set when the rings exist: the size of one, and how often all have been emptied. */
SHARED volatile uint32_t ring_bytes SET_TO(0);
SHARED volatile uint32_t drains SET_TO(0);

/* How often the reader is woken for unknown address spaces, at most. */
SHARED const volatile uint64_t bell_gap_ns SET_TO(0);

/* The share of samples that are not taken, of BPF_WALK_ALL. */
SHARED volatile uint32_t left_out SET_TO(0);

#endif
