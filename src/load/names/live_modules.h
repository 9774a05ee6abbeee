/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_LIVE_MODULES_H
#define WICK_LOAD_NAMES_LIVE_MODULES_H

/*
 * live_modules: finds the file, and the place in it, for an address of a running process.
 *
 * The maps are read again if an address is in none of them. Files are opened through the process
 * itself, so that the right ones are used even in containers and after they were deleted or
 * replaced. One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct live_modules;
struct map_region;
struct module;
struct symbol_search;

struct live_place {
	const struct map_region *region; /* valid until the next lookup */
	const struct module *module;     /* NULL: out of memory; valid until the next lookup */
	uint32_t module_id;              /* MODULE_NONE if module is NULL */
	uint64_t bias;
};

/* Reads no maps yet. The caller releases *ret with live_modules_free(). */
int live_modules_new(pid_t pid, struct live_modules **ret, struct error *err);
void live_modules_free(struct live_modules *modules); /* NULL is fine */

/* Reads the maps now; fails if the process does not exist or cannot be read. */
int live_modules_read(struct live_modules *modules, struct error *err);

/* Call it after an exec: what was known about addresses is no longer valid. */
void live_modules_forget(struct live_modules *modules);

/* Returns false if nothing is mapped at the address. */
bool live_modules_find(struct live_modules *modules, uint64_t address, struct live_place *ret);

/* How a symboliser opens the files; borrowed until live_modules_free(). */
const struct symbol_search *live_modules_search(const struct live_modules *modules);

#endif
