/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_NAMES_DEBUGINFOD_CLIENT_H
#define WICK_SERVER_NAMES_DEBUGINFOD_CLIENT_H

/*
 * debuginfod_client: asks debuginfod servers that an administrator named for debug files, by build
 * id. Size and time of an answer are limited. One thread at a time, except for cancel.
 */

#include <stddef.h>
#include <stdint.h>

struct build_id;
struct debuginfod_client;
struct error;
struct symbol_folder;

/* Of a debug file. It is in memory until it is written. */
#define DEBUGINFOD_MAX_BYTES (256u << 20)
#define DEBUGINFOD_TIMEOUT_MS 90000u
/* A server that gave no answer is left alone for this time. */
#define DEBUGINFOD_REST_S 300u

/*
 * urls are asked in this order; "DEBUGINFOD_URLS" stands for those in that variable. Borrows them.
 * The caller releases *ret with debuginfod_client_free().
 */
int debuginfod_client_new(const char *const *urls, size_t count, struct debuginfod_client **ret,
			  struct error *err);
void debuginfod_client_free(struct debuginfod_client *client); /* NULL is fine */

/*
 * Fetches a file into the folder. Returns -ENOENT if no server has it, -EAGAIN if all are left
 * alone at this time.
 */
int debuginfod_client_fetch(struct debuginfod_client *client, const struct build_id *id,
			    struct symbol_folder *folder, struct error *err);

/* Ends what is under way, and all that comes; any thread may call. NULL is fine. */
void debuginfod_client_cancel(struct debuginfod_client *client);

struct debuginfod_stats {
	uint64_t fetched;
	uint64_t bytes;
	uint64_t failures; /* without those that no server has */
};
struct debuginfod_stats debuginfod_client_stats(struct debuginfod_client *client);

#endif
