/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_BLOCKS_H
#define WICK_LIVE_BLOCKS_H

/*
 * live_blocks: the blocks of a recorded heap that had not been freed, one by one. The time range of
 * the load options moves the moment: to_ns 5000000000 gives what was live after five seconds.
 *
 *	struct wick_live_block block;
 *	struct wick_live_blocks *blocks;
 *
 *	if (wick_live_blocks_load("app.wick", NULL, &blocks, &err) < 0)
 *		…
 *	for (i = 0; wick_live_blocks_get(blocks, i, 1, &block) == 1; i++)
 *		…
 *	wick_live_blocks_free(blocks);
 *
 * Threads: any number of threads may read blocks. wick_live_blocks_site() needs exclusive access to
 * the object. Do not call these functions from signal handlers.
 */

#include <stddef.h>
#include <stdint.h>

#include <wick/error.h>
#include <wick/export.h>
#include <wick/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_live_blocks;

/*
 * The caller releases *ret with wick_live_blocks_free(). Returns -EINVAL if the recording has no
 * allocations, and otherwise what wick_load() does.
 */
WICK_API int wick_live_blocks_load(const char *path, const struct wick_load_options *options,
				   struct wick_live_blocks **ret, struct wick_error *err);
WICK_API void wick_live_blocks_free(struct wick_live_blocks *blocks); /* NULL is fine */

struct wick_live_block {
	uint64_t address;
	uint64_t size;
	double weight; /* how many blocks it represents: 1 unless blocks were sampled */
	uint32_t site;
	uint32_t zero;
};

WICK_API size_t wick_live_blocks_count(const struct wick_live_blocks *blocks);

/* Copies up to `count` blocks from number `first` on. Returns how many. */
WICK_API size_t wick_live_blocks_get(const struct wick_live_blocks *blocks, size_t first,
				     size_t count, struct wick_live_block *ret);

/* Where blocks were allocated: a stack in a thread. */
struct wick_live_site {
	size_t size;                             /* sizeof(struct wick_live_site) */
	const struct wick_profile_frame *frames; /* root first; valid until the next call */
	size_t frame_count;
	uint32_t cut; /* how many of the outermost frames are missing, if known */
	uint32_t pid;
	uint32_t tid;
	const char *thread; /* its name; belongs to the blocks */
};

/* Returns 0, -ENOENT if there is no such site, or -ENOMEM. */
WICK_API int wick_live_blocks_site(struct wick_live_blocks *blocks, uint32_t site,
				   struct wick_live_site *ret);

#ifdef __cplusplus
}
#endif

#endif
