/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_LIVE_MODULES_H
#define WICK_LOAD_NAMES_LIVE_MODULES_H

/*
 * live_modules: which file, and where in it, an address of a process that runs is.
 *
 * Maps are read again when an address is in none of them. Files are reached through
 * the process itself, so that those in containers and those that were deleted or
 * replaced are the ones that are mapped. One thread at a time.
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
	const struct map_region *region; /* valid until the next address is looked for */
	const struct module *module;     /* NULL without memory; valid as the last */
	uint32_t module_id;              /* MODULE_NONE then */
	uint64_t bias;
};

/* Reads no maps yet. The caller releases *ret with live_modules_free(). */
int live_modules_new(pid_t pid, struct live_modules **ret, struct error *err);
void live_modules_free(struct live_modules *modules); /* NULL is fine */

/* Reads the maps now; a process that is not there, or may not be read, is an error. */
int live_modules_read(struct live_modules *modules, struct error *err);

/* To be told of an exec: what was known of the addresses holds no more. */
void live_modules_forget(struct live_modules *modules);

/* False when nothing is mapped at the address. */
bool live_modules_find(struct live_modules *modules, uint64_t address, struct live_place *ret);

/* How a symboliser reaches the files; borrowed until live_modules_free(). */
const struct symbol_search *live_modules_search(const struct live_modules *modules);

#endif
