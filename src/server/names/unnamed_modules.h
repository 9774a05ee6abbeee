/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_NAMES_UNNAMED_MODULES_H
#define WICK_SERVER_NAMES_UNNAMED_MODULES_H

/*
 * unnamed_modules: which modules have addresses without a name, and when each is searched for
 * again.
 *
 * A search is a scan of all addresses of the store. So a module whose symbols are nowhere has to
 * wait, longer each time, until somebody says that there are other symbols. If there are too many
 * modules, those with the newest addresses are kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "server/names/naming.h"

struct store_unnamed_module;

/* A module without symbols: after this time, and after twice as long each time. */
#define UNNAMED_SEARCH_AGAIN_S 15u
#define UNNAMED_SEARCH_DOUBLINGS_MAX 6u

/* A module that has addresses without a name, or had some. */
struct unnamed_module {
	char hex[2 * BUILD_ID_MAX + 1];
	struct build_id build_id;
	char path[128];
	enum naming_state state;
	uint64_t addresses;    /* in the last pass */
	uint32_t last_id;      /* of those */
	uint32_t next_id;      /* smaller ones were looked up in these symbols */
	uint64_t search_s;     /* not before, in folders */
	unsigned int searched; /* searches without success in a row */
	unsigned int renewals; /* how often new symbols arrived */
	uint64_t fetch_s;      /* not before, from debuginfod */
	uint64_t ask_s;        /* not before, of an agent */
	unsigned int asked;
};

struct unnamed_modules {
	VEC(struct unnamed_module) items;
	struct id_index index;   /* of them, by build id */
	size_t max;              /* of items, from one survey to the next; 0: NAMING_MODULES_MAX */
	unsigned int generation; /* of their ids */
};

void unnamed_modules_fini(struct unnamed_modules *modules);
/* NULL: unknown. */
struct unnamed_module *unnamed_modules_find(struct unnamed_modules *modules,
					    const struct build_id *id);
/* A survey: all have no addresses until they are noted. Items move only in one. */
void unnamed_modules_begin(struct unnamed_modules *modules);
void unnamed_modules_note(struct unnamed_modules *modules,
			  const struct store_unnamed_module *unnamed);
void unnamed_modules_end(struct unnamed_modules *modules);

/* Whether its addresses are to be looked up; if so, only what comes from now on is next time. */
bool unnamed_module_begin_search(struct unnamed_module *known, uint64_t now_s);
/* What came of it; before is a copy from before the search. */
void unnamed_module_end_search(struct unnamed_module *known, const struct unnamed_module *before,
			       bool has_symbols, bool failed, uint64_t now_s);
/* There are other symbols: all is looked up again, at once. */
void unnamed_module_renew(struct unnamed_module *known);

#endif
