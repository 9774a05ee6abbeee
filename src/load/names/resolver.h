/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_RESOLVER_H
#define WICK_LOAD_NAMES_RESOLVER_H

/*
 * resolver: finds everything known about addresses of a file or of a running process.
 *
 * Addresses of a file are ELF virtual addresses; those of a process are addresses in the process.
 * Combines the mapping to files, the symboliser and its cache on disk. One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/symboliser.h"

struct build_id;
struct error;
struct name_source;
struct resolver;

struct resolver_config {
	const char *path;    /* of a file; if NULL, pid is used */
	pid_t pid;           /* of a process */
	const char *section; /* of the file; addresses are relative to its start; NULL: to 0 */
	bool demangle;
	enum symbol_detail detail;
	const char *const *symbol_paths; /* copied */
	size_t symbol_path_count;
	bool no_disk_cache;
	/* Fetches debug files from elsewhere, see debug_file.h; borrowed. Optional. */
	const struct symbol_search *fetch;
	/*
	 * Queried for addresses without a name, see name_source.h; NULL last; borrowed. Optional.
	 */
	const struct name_source *const *sources;
};

struct resolved {
	uint64_t address;
	enum symbol_quality quality;
	const struct symbol_frame *frames; /* innermost first; valid until the next address */
	size_t count;                      /* at least 1 */
	const char *module;                /* path; "": the address is in no module */
	const struct build_id *build_id;   /* of the module; NULL: no module */
	uint32_t module_id;
	uint64_t vaddr; /* in the module; without a module, the address itself */
};

/* The caller releases *ret with resolver_close(). */
int resolver_open(const struct resolver_config *config, struct resolver **ret, struct error *err);
void resolver_close(struct resolver *resolver); /* NULL is fine */

/* Never fails: "unknown" is an answer. */
void resolver_find(struct resolver *resolver, uint64_t address, struct resolved *ret);

/* Gives details of the last result; returns -ENOENT if there are none. */
int resolver_details(struct resolver *resolver, const struct resolved *found,
		     struct symbol_details *ret);

/* Why names of the module are missing; NULL: no problem. */
const char *resolver_problem(const struct resolver *resolver, uint32_t module_id);

struct symboliser_stats resolver_stats(const struct resolver *resolver);

#endif
