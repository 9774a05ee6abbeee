/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_ENGINE_STATS_H
#define WICK_ENGINE_ENGINE_STATS_H

/* engine_stats: what an engine knows about its own work, the numbers behind the summary. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many ways a walk with tables can end; only the first, at the root, is a success. */
#define ENGINE_ENDS 6

struct engine_sample_stats {
	uint64_t count;
	uint64_t lost;
	uint64_t expected;  /* from the time that the target ran; 0: unknown */
	uint64_t seen_ns;   /* time that samples represent so far; 0: their weight is not time */
	uint64_t throttled; /* times that the kernel throttled the event */
};

struct engine_stack_stats {
	uint64_t frames;    /* of all samples */
	uint64_t unique;    /* different stacks; 0: too many to count */
	uint64_t truncated; /* cut before their root; by some engines only at the depth limit */
	uint64_t narrow;    /* of 32-bit programs: by frame pointers, no names */
	uint64_t slices;    /* that the kernel could not walk because a table was missing */
	bool by_fp;         /* walked by frame pointers */
	bool by_tables;     /* walked by unwind tables; see ends */
	uint64_t ends[ENGINE_ENDS]; /* how walks ended; see engine_end_name() */
};

/* CPU time that the recording has cost the target so far, as far as it is known. */
struct engine_cost_stats {
	uint64_t target_ns;
	uint64_t sample_ns;       /* of one sample, measured on this machine */
	uint64_t switch_ns;       /* of watching the target's context switches; not in target_ns */
	uint64_t other_switch_ns; /* of watching those of other programs, and in pauses */
};

struct engine_offcpu_stats {
	bool on;                 /* times off the CPUs are among the samples */
	uint64_t samples;        /* how many of the samples these are */
	uint64_t repeated;       /* additional lock waits that these samples represent */
	uint64_t summed;         /* times off a CPU that were added up, without a stack each */
	uint64_t too_short;      /* times off a CPU that were left out */
	uint64_t unkept;         /* times off a CPU that found no room */
	uint64_t switches;       /* context switches of the target's threads */
	uint64_t other_switches; /* of other threads, and in pauses */
};

struct engine_heap_stats {
	uint64_t events;       /* allocations and frees */
	uint64_t missed;       /* calls of the allocator among the lost; the rest are samples */
	uint64_t calls;        /* of the allocator that probes have seen */
	uint64_t before_bytes; /* upper limit of what was in use before; 0: unknown, or nothing */
};

struct engine_memory_stats {
	double ring_fill;      /* largest recent fill of a ring, 0 to 1 */
	uint64_t ring_bytes;   /* of each ring of perf events; 0: there are none */
	uint64_t buffer_bytes; /* of all rings */
	uint64_t table_bytes;  /* of tables in the kernel */
};

/* The calls of interpreters. */
struct engine_python_stats {
	uint64_t samples;   /* with such calls */
	uint64_t torn;      /* samples whose calls were changing, or could not be read */
	uint64_t unnamed;   /* samples whose calls were gone before their names were read */
	uint64_t early;     /* samples before the interpreter of their process was found */
	uint64_t others;    /* left out: their threads did not hold the interpreter's lock */
	uint64_t processes; /* with an interpreter */
	uint64_t refused;   /* processes with an interpreter that cannot be read */
	char reason[160];   /* why, for the first of these */
	char languages[64]; /* of those found: "Python or Ruby" */
};

/* What the kernel granted of what was requested. */
struct engine_granted {
	uint32_t frequency_hz;
	uint32_t depth_limit;
	bool kernel;
};

struct engine_stats {
	uint64_t run_ns; /* CPU time of the target while it was watched */
	struct engine_sample_stats samples;
	struct engine_stack_stats stacks;
	struct engine_cost_stats cost;
	struct engine_offcpu_stats offcpu;
	struct engine_heap_stats heap;
	struct engine_memory_stats memory;
	struct engine_granted granted;
	struct engine_python_stats python;
	char remark[900];   /* what else a person should know; "": nothing */
	char why_none[320]; /* why there may be no samples; "": unknown */
};

/* What stacks.ends[i] counts: "root", "depth limit" … */
const char *engine_end_name(size_t i);

#endif
