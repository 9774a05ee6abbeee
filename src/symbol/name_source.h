/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_NAME_SOURCE_H
#define WICK_SYMBOL_NAME_SOURCE_H

/*
 * name_source: who else may know the name of an address that has none in files, such as a
 * server with symbols of stripped programs. Plug-ins bring them.
 */

#include <stdbool.h>
#include <stdint.h>

struct build_id;

struct name_query {
	const char *module;              /* path; "" for an address in none */
	const struct build_id *build_id; /* NULL: none */
	uint64_t vaddr;                  /* in the module; an address of the process without one */
	uint32_t pid;                    /* whose memory it is in; 0: a file's */
};

/* Texts stay as they are until the next question. */
struct name_answer {
	const char *function; /* a linker name is shown as such names are */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
};

struct name_source {
	const char *name;
	const char *summary;
	const char *plugin; /* that it is of */
	void *self;
	bool (*find)(void *self, const struct name_query *query, struct name_answer *ret);
};

#endif
