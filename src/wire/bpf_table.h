/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_TABLE_H
#define WICK_WIRE_BPF_TABLE_H

/*
 * bpf_table: unwind tables as the BPF programs read them.
 *
 * They are in a store of 8-byte words, numbered across all its chunks. Code is divided into pages
 * of 256 bytes. A table has one word for each page:
 *
 *	bits 0 to 31    the byte of the store where its rows are
 *	bits 32 to 47   the rule that applies at its start
 *	bits 48 to 55   the number of its rows; 0: there is only that rule
 *
 * The rows of a page are the changes of the rule within it, all in one chunk: first their offsets
 * in the page, a byte each, in ascending order, then their rules, two bytes each. That is a third
 * of struct unwind_row: what a walk reads has been evicted from the caches since the last sample,
 * and the rows of a page are mostly in one cache line.
 */

#include <stdint.h>

#define BPF_WALK_RULES 16384u

#define BPF_WALK_CHUNK_SHIFT 16u
#define BPF_WALK_CHUNK_WORDS (1u << BPF_WALK_CHUNK_SHIFT)
#define BPF_WALK_CHUNK_SLACK 8u /* words after a chunk: nothing ends past them */
#define BPF_WALK_CHUNK_BYTES ((BPF_WALK_CHUNK_WORDS + BPF_WALK_CHUNK_SLACK) * 8u)
#define BPF_WALK_CHUNKS 1024u

#define BPF_WALK_PAGE_SHIFT 8u
#define BPF_WALK_PAGE_BYTES (1u << BPF_WALK_PAGE_SHIFT)
#define BPF_WALK_ROW_BYTES 3u

/* Where the bytes of a chunk are masked out of a position in the store. */
#define BPF_WALK_CHUNK_MASK (BPF_WALK_CHUNK_WORDS * 8u - 1)

static inline uint64_t bpf_page_word(uint32_t at, uint16_t rule, uint32_t count)
{
	return (uint64_t)count << 48 | (uint64_t)rule << 32 | at;
}

static inline uint32_t bpf_page_rows(uint64_t page)
{
	return (uint32_t)page;
}

static inline uint32_t bpf_page_rule(uint64_t page)
{
	return (uint16_t)(page >> 32);
}

static inline uint32_t bpf_page_count(uint64_t page)
{
	return (uint8_t)(page >> 48);
}

/*
 * How many of the first `count` bytes of a word, which are in ascending order, are at most `most`.
 * What follows them is ignored. Each sum below has room for one bit above its byte, which stays set
 * unless the byte is larger.
 */
static inline uint32_t bpf_bytes_at_most(uint64_t bytes, uint32_t count, uint32_t most)
{
	const uint64_t ones = 0x0001000100010001ull;
	const uint64_t low = 0x00ff00ff00ff00ffull;
	uint64_t limit = (most | 0x100) * ones;
	uint64_t even;
	uint64_t odd;
	uint32_t found;

	if (count < 8) /* 255 is at most 255, so they may still be counted: see below */
		bytes |= UINT64_MAX << count * 8;
	even = limit - (bytes & low);
	odd = limit - (bytes >> 8 & low);
	found = (uint32_t)(((even >> 8 & ones) + (odd >> 8 & ones)) * ones >> 48);
	return found < count ? found : count;
}

#endif
