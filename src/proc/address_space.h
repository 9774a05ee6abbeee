/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_ADDRESS_SPACE_H
#define WICK_PROC_ADDRESS_SPACE_H

/*
 * address_space: what one process had mapped where, now and at any earlier moment.
 *
 * It receives changes (map, unmap, exec) in time order and resolves an address to (module, ELF
 * vaddr, file offset) as of a given time, so that dlopen, dlclose, exec and reused addresses are
 * handled correctly. Each change makes a new generation. A generation is stored as what the change
 * replaced, with a full snapshot now and then, so memory grows only with the number of changes.
 *
 * It only stores numbers: it does not know which file a module id refers to.
 *
 * Threads: changes need exclusive access; any number of threads may resolve in between. Spaces
 * related by fork share memory and count as one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_space;

#define ADDRESS_SPACE_NOW UINT64_MAX

struct address_region {
	uint64_t start;
	uint64_t end;
	uint64_t bias;      /* runtime address - ELF vaddr */
	uint64_t file_base; /* file offset - runtime address, modulo 2^64 */
	uint32_t module;
};

struct address_hit {
	uint32_t module; /* MODULE_NONE: nothing was mapped there */
	uint64_t vaddr;  /* ELF vaddr; the raw address when nothing was mapped */
	uint64_t file_offset;
};

struct address_space *address_space_new(void); /* NULL if out of memory */
void address_space_free(struct address_space *space);

/*
 * The changes. They apply from time_ns on. A time before that of the last change counts as that
 * time: changes cannot be inserted earlier. A change at time 0 applies to all times and costs no
 * history. A change without effect makes no generation. Return 0, -ENOMEM or -EINVAL (an empty
 * region); after a failure the space is unchanged.
 */
struct address_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint64_t file_offset; /* of start */
	uint32_t module;
};

int address_space_map(struct address_space *space, uint64_t time_ns,
		      const struct address_mapping *mapping);
int address_space_unmap(struct address_space *space, uint64_t time_ns, uint64_t start,
			uint64_t end);
int address_space_clear(struct address_space *space, uint64_t time_ns); /* exec */

/*
 * A new space that starts with what the parent has at time_ns, which applies to all times; it
 * shares memory with the parent until either changes. NULL if out of memory.
 */
struct address_space *address_space_fork(struct address_space *parent, uint64_t time_ns);

/*
 * Resolves an address as of time_ns; ADDRESS_SPACE_NOW is the latest state.
 * *ret is always written, see struct address_hit.
 */
bool address_space_resolve(const struct address_space *space, uint64_t time_ns, uint64_t address,
			   struct address_hit *ret);
/* Resolves n addresses at one time, such as a stack. Returns how many were found. */
size_t address_space_resolve_batch(const struct address_space *space, uint64_t time_ns,
				   const uint64_t *addresses, size_t n, struct address_hit *ret);

/* The number of the latest state, and of the state at a time; 0 for an empty space. */
uint64_t address_space_generation(const struct address_space *space);
uint64_t address_space_generation_at(const struct address_space *space, uint64_t time_ns);

/* The regions of the latest state in order of address. Valid until the next change. */
const struct address_region *address_space_regions(const struct address_space *space,
						   size_t *ret_count);
/* Bytes held, for tests and for monitoring ourselves. */
size_t address_space_memory_bytes(const struct address_space *space);

#endif
