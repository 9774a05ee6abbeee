/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_NAMES_H
#define WICK_LIVE_LIVE_NAMES_H

/*
 * live_names: names for the addresses of a process that runs.
 *
 * Joins its maps, the files behind them and the symboliser. Maps are read again
 * when an address is in none of them, and when they are said to have changed. One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct live_names;

struct live_name {
	const char *function; /* NULL when unknown */
	uint64_t offset;      /* from the function's start */
	const char *module;   /* last part of the path; NULL when the address is in none */
	const char *file;     /* NULL when unknown */
	uint32_t line;
};

/* The caller releases *ret with live_names_free(). */
int live_names_new(pid_t pid, struct live_names **ret, struct error *err);
void live_names_free(struct live_names *names); /* NULL is fine */

/* To be told of an exec, a library unloaded: what was known of addresses holds no more. */
void live_names_forget(struct live_names *names);

/* Names an address; that of a caller is a return address. Valid until the next call. */
struct live_name live_names_find(struct live_names *names, uint64_t address, bool is_caller);

#endif
