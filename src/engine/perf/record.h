/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_RECORD_H
#define WICK_ENGINE_PERF_RECORD_H

/*
 * record: what the kernel writes into a ring, taken apart.
 *
 * Only for events opened with the sample type that event_grant_init() asks for.
 * The kernel is trusted with the order of things, not with lengths: a record
 * that is too short is refused.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/elf.h"
#include "proc/maps.h"

struct perf_event_header;

struct sample_record {
	pid_t pid;
	pid_t tid;
	uint64_t time_ns;
	uint32_t cpu;
	uint64_t period;      /* 0 when the event does not tell */
	uint64_t value_count; /* of a group: the leader's, then the members' */
	const uint64_t *values;
	uint64_t count;        /* entries of chain */
	const uint64_t *chain; /* the leaf first, with context marks */
	/* With a copied stack: */
	const uint64_t *registers; /* those of registers_perf_mask(); NULL: none */
	const uint8_t *stack;      /* from sp on */
	uint64_t stack_bytes;      /* that were really copied */
	bool is_32_bit;            /* registers and stack are of a 32-bit program */
	/* Of a BPF program: */
	const uint8_t *raw; /* of any alignment */
	uint32_t raw_bytes;
};

struct task_record { /* fork and exit */
	pid_t pid;
	pid_t tid;
	pid_t parent_pid;
	pid_t parent_tid;
};

struct comm_record {
	pid_t pid;
	pid_t tid;
	bool exec;
	const char *comm;
};

struct map_record {
	pid_t pid;
	struct map_region region; /* path points into the record or is cut by name */
	struct build_id build_id;
	char name[4096]; /* the path, without " (deleted)" */
};

/* When it happened; 0 for records that do not say. */
uint64_t record_time_ns(const struct perf_event_header *header);

/* What stands in a sample besides the usual. */
struct sample_layout {
	bool period;
	bool group;
};

bool record_sample(const struct perf_event_header *header, struct sample_layout layout,
		   struct sample_record *ret);
/* A sample that has no stack, only the values of a group; false for what is none. */
bool record_group(const struct perf_event_header *header, struct sample_record *ret);
/*
 * The registers (as many as asked for) and the copied stack that stand behind
 * the chain of a sample that record_sample() has read.
 */
bool record_user_stack(const struct perf_event_header *header, unsigned int register_count,
		       struct sample_record *sample);
/* A sample that a BPF program wrote: what it wrote is raw, there is no chain. */
bool record_raw(const struct perf_event_header *header, struct sample_record *ret);
bool record_task(const struct perf_event_header *header, struct task_record *ret);
bool record_comm(const struct perf_event_header *header, struct comm_record *ret);
bool record_map(const struct perf_event_header *header, struct map_record *ret);
/* How many records were lost, of PERF_RECORD_LOST. */
uint64_t record_lost(const struct perf_event_header *header);

#endif
