/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SPOOL_H
#define WICK_AGENT_SPOOL_H

/*
 * spool: windows on disk that a server has not confirmed yet, oldest first.
 *
 *	new-NUMBER		a window that is being written; removed at the next start
 *	NUMBER-ID.wick		a complete one: it was synchronised with the disk, then renamed
 *	damaged/		files that are not recordings, kept for inspection
 *
 * A window that was committed survives a crash of the agent or of the machine. Size and age are
 * limited: the oldest windows are removed first. One process at a time uses a folder. Any thread
 * may call, but only one writes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct error;
struct spool;

#define SPOOL_ID_MAX 160

struct spool_config {
	const char *folder; /* created when missing, mode 0700 */
	uint64_t max_bytes;
	uint64_t max_age_s;
	/* Called with messages for the user, from any thread. */
	void (*notice)(void *self, const char *text);
	void *self;
};

struct spool_item {
	uint64_t number;
	char id[SPOOL_ID_MAX];
	uint64_t bytes;
};

struct spool_stats {
	uint64_t windows;
	uint64_t bytes;
	uint64_t max_bytes;
	uint64_t dropped; /* removed because of the limits, since the start */
	uint64_t damaged; /* set aside since the start */
};

/* -EBUSY if another process uses the folder. The caller releases *ret with spool_close(). */
int spool_open(const struct spool_config *config, struct spool **ret, struct error *err);
void spool_close(struct spool *spool); /* NULL is fine */

/* Returns the descriptor of a new file, which the caller closes before spool_commit(). */
int spool_begin(struct spool *spool, struct error *err);
/* The file becomes the newest window. Older ones are removed if there is too much. */
int spool_commit(struct spool *spool, const char *id, struct error *err);
void spool_abort(struct spool *spool);

/* The oldest window; false if there is none. */
bool spool_first(struct spool *spool, struct spool_item *ret);
/* The one after the window with this number. */
bool spool_next(struct spool *spool, uint64_t number, struct spool_item *ret);

/*
 * The id of a window that was received from somebody whose clock is behind ours, with what it is
 * behind. spool_split_id() takes them apart: 0 if the id says nothing about it.
 */
void spool_join_id(char ret[SPOOL_ID_MAX], const char *id, int64_t offset_s);
int64_t spool_split_id(const char *joined, char ret_id[SPOOL_ID_MAX]);

/*
 * Reads a window. A file that is not a whole recording is set aside: -EBADMSG. One that was removed
 * meanwhile: -ENOENT.
 */
int spool_read(struct spool *spool, const struct spool_item *item, struct bytes *ret,
	       struct error *err);
void spool_remove(struct spool *spool, const struct spool_item *item);

void spool_stats(struct spool *spool, struct spool_stats *ret);

#endif
