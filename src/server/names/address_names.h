/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_NAMES_ADDRESS_NAMES_H
#define WICK_SERVER_NAMES_ADDRESS_NAMES_H

/* address_names: looks up the addresses of one build id that the store has without a name. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;
struct error;
struct store;

struct address_names_question {
	struct store *store;
	const struct build_id *build_id;
	uint32_t from_id;           /* of the addresses */
	const char *const *folders; /* with debug files, searched first */
	size_t folder_count;
	const char *last_folder; /* searched after those, and after /usr/lib/debug */
};

struct address_names_result {
	bool has_symbols; /* there is a file of this build id */
	uint64_t looked_up;
	uint64_t named;
};

/* Names that were found are in the store when it returns, also if it fails. */
int address_names_find(const struct address_names_question *question,
		       struct address_names_result *ret, struct error *err);

#endif
