/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PERF_RECORDS_PERF_RECORD_H
#define WICK_PERF_RECORDS_PERF_RECORD_H

/*
 * perf_record: parses what the kernel writes into a ring, or perf into its file.
 *
 * The layout of a record follows from the attributes of its event. Lengths are not trusted: a
 * record that is too short is refused.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/elf.h"
#include "proc/maps.h"

struct perf_event_attr;
struct perf_event_header;

#define RECORD_NOWHERE UINT16_MAX

struct perf_record_layout {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	unsigned int register_count; /* of user space */
	bool has_build_ids;          /* map records contain them if possible */
	/* Offsets in bytes, RECORD_NOWHERE if the event does not record it: */
	uint16_t sample_time; /* in a sample, from the end of its header */
	uint16_t sample_id;
	/* in other records, back from their end */
	uint16_t trailer_bytes;
	uint16_t trailer_time;
	uint16_t trailer_id;
};

struct sample_record {
	pid_t pid; /* 0 if the event does not record it; the same for the others */
	pid_t tid;
	uint64_t time_ns;
	uint32_t cpu;
	uint64_t ip;
	uint64_t period;
	uint64_t value_count; /* of a group: the leader's, then the members' */
	const uint64_t *values;
	uint32_t value_words;  /* for each: the value and, if there are several, the event's id */
	uint64_t count;        /* entries of chain */
	const uint64_t *chain; /* leaf first, with context marks */
	/* With a copied stack: */
	const void *registers; /* the registers that the event requests, unaligned; NULL: none */
	const uint8_t *stack;  /* from sp on */
	uint64_t stack_bytes;  /* actually copied */
	bool is_32_bit;        /* registers and stack are those of a 32-bit program */
	/* From a BPF program or a tracepoint: */
	const uint8_t *raw; /* unaligned */
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
	struct map_region region; /* its path points to name */
	struct build_id build_id;
	char name[4096]; /* the path, without " (deleted)" */
};

void perf_record_layout_init(struct perf_record_layout *layout, const struct perf_event_attr *attr);

/* When it happened; 0 if the record does not say. */
uint64_t perf_record_time_ns(const struct perf_record_layout *layout,
			     const struct perf_event_header *header);

/* The id of its event; false if the record does not say. */
bool perf_record_id(const struct perf_record_layout *layout, const struct perf_event_header *header,
		    uint64_t *ret);

/* Records are aligned to 8 bytes. All results point into them. */
bool perf_record_sample(const struct perf_record_layout *layout,
			const struct perf_event_header *header, struct sample_record *ret);
/*
 * A sample with only the values of a group, among those that BPF programs write. False for other
 * records.
 */
bool perf_record_group(const struct perf_event_header *header, struct sample_record *ret);
bool perf_record_task(const struct perf_record_layout *layout,
		      const struct perf_event_header *header, struct task_record *ret);
bool perf_record_comm(const struct perf_record_layout *layout,
		      const struct perf_event_header *header, struct comm_record *ret);
/* For PERF_RECORD_MMAP2, or the older PERF_RECORD_MMAP; false if it is not executable. */
bool perf_record_map(const struct perf_record_layout *layout,
		     const struct perf_event_header *header, struct map_record *ret);
/* The number of lost records, from PERF_RECORD_LOST. */
uint64_t perf_record_lost(const struct perf_event_header *header);

#endif
