/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_NAMES_H
#define WICK_LIVE_LIVE_NAMES_H

/*
 * live_names: names for the addresses of a running process.
 *
 * Combines its maps, the mapped files and the symboliser. The maps are read again if an address is
 * in none of them, and after live_names_forget(). One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct live_names;

struct live_name {
	const char *function; /* NULL when unknown */
	uint64_t offset;      /* from the function's start */
	const char *module;   /* last part of the path; NULL: the address is in no module */
	const char *file;     /* NULL when unknown */
	uint32_t line;
};

/* The caller releases *ret with live_names_free(). */
int live_names_new(pid_t pid, struct live_names **ret, struct error *err);
void live_names_free(struct live_names *names); /* NULL is fine */

/*
 * Call it after an exec or when a library was unloaded: what was known about addresses is no longer
 * valid.
 */
void live_names_forget(struct live_names *names);

/*
 * Names an address; with is_caller it is a return address. The result is valid until the next call.
 */
struct live_name live_names_find(struct live_names *names, uint64_t address, bool is_caller);

#endif
