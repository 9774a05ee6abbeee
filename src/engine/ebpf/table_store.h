/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_TABLE_STORE_H
#define WICK_ENGINE_EBPF_TABLE_STORE_H

/*
 * table_store: the memory from which the BPF programs read tables, see wire/bpf_walk.h.
 *
 * It grows by chunks as tables are added and is written in place; the few chunks that were written
 * last are also in the memory of this process. The rows of all tables share one dictionary of
 * rules. Released room is reused only when programs that may still be reading it are done.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "wire/bpf_walk.h"

struct unwind_rule;
struct unwind_table;

/* Released room is kept by size: 2^class mappings. */
#define STORE_CLASSES 13

struct store_chunk {
	int fd;
	uint64_t *words; /* NULL: not mapped now */
	uint64_t used;   /* the number of uses when it was last written */
};

struct store_free {
	uint32_t first;
	uint64_t since_ns;
};

/*
 * Chunks that are mapped at the same time, half a megabyte each. Mapping one takes 20 µs, and a few
 * are written again and again.
 */
#define TABLE_STORE_MAPPED_CHUNKS 4u

struct table_store {
	int chunks_fd; /* the map of chunks */
	int rules_fd;
	VEC(struct store_chunk) chunks;
	size_t published; /* chunks that the programs see */
	size_t mapped;
	uint64_t next; /* the first word that was never used */
	uint64_t uses;
	VEC(struct unwind_rule) rules;
	struct id_index rule_index;
	VEC(struct store_free) free[STORE_CLASSES]; /* the oldest first */
};

/* The position of a table in the store. */
struct stored_table {
	uint32_t first_page;
	uint32_t page_count; /* 0: it has no rows */
	uint64_t base;
};

/* Borrows both maps. Returns 0 or a negative errno. */
int table_store_init(struct table_store *store, int chunks_fd, int rules_fd);
void table_store_fini(struct table_store *store);

/*
 * Makes room for this many words. Returns 0 or a negative errno; -ENOSPC: the store is full.
 */
int table_store_reserve(struct table_store *store, uint64_t words);
/*
 * Makes all room visible to the programs, before they are given what refers to it. The kernel takes
 * some ten milliseconds, once for all chunks that are new. Returns 0 or a negative errno.
 */
int table_store_publish(struct table_store *store);

/* Adds a table. Returns 0 or a negative errno, as table_store_reserve() does. */
int table_store_table(struct table_store *store, const struct unwind_table *table,
		      struct stored_table *ret);

/* Adds mappings, at most BPF_WALK_MAPPINGS. *ret_first is the first word. */
int table_store_mappings(struct table_store *store, const struct bpf_walk_mapping *mappings,
			 uint32_t count, uint32_t *ret_first);
/* Releases the room of mappings that were added together. */
void table_store_release_mappings(struct table_store *store, uint32_t first, uint32_t count);

/* Bytes held in the kernel. */
uint64_t table_store_bytes(const struct table_store *store);

#endif
