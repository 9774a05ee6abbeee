/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_NAME_SOURCE_H
#define WICK_SYMBOL_NAME_SOURCE_H

/*
 * name_source: another source for the name of an address that has none in files, such as a server
 * with symbols of stripped programs. Plug-ins provide them.
 */

#include <stdbool.h>
#include <stdint.h>

struct build_id;

struct name_query {
	const char *module;              /* path; "" for an address in no module */
	const struct build_id *build_id; /* NULL: none */
	uint64_t vaddr;                  /* in the module; without one, an address of the process */
	uint32_t pid;                    /* the process whose memory it is in; 0: a file */
};

/* Texts must not change until the next lookup. */
struct name_answer {
	const char *function; /* linker names are demangled */
	const char *file;     /* NULL: unknown */
	uint32_t line;        /* 0: unknown */
};

struct name_source {
	const char *name;
	const char *summary;
	const char *plugin; /* that provides it */
	void *self;
	bool (*find)(void *self, const struct name_query *query, struct name_answer *ret);
};

#endif
