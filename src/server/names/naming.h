/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_NAMES_NAMING_H
#define WICK_SERVER_NAMES_NAMING_H

/*
 * naming: gives names to the addresses that were stored without any, in a thread of its own.
 *
 * Symbols are searched by build id, never by a path that a sender wrote: in folders of debug files,
 * in what was uploaded, and at debuginfod servers. For what is found nowhere, an agent that has the
 * file is asked. An address keeps the name that it got; those without one are looked up again when
 * other symbols of their build id arrive.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;
struct debuginfod_client;
struct error;
struct naming;
struct store;
struct symbol_folder;

#define NAMING_MODULES_MAX 20000u
/* An agent is asked for at most this many build ids at once. */
#define NAMING_WANTED_MAX 16u
/* Another agent is asked after this time, and after twice as long each time. */
#define NAMING_ASK_AGAIN_S 300u

struct naming_config {
	struct store *store;
	struct symbol_folder *folder;
	const char *const *debug_folders;
	size_t debug_folder_count;
	struct debuginfod_client *debuginfod; /* NULL: none is asked */
	void (*failed)(void *self, const struct error *err);
	void *self;
};

/* Borrows everything. The caller releases *ret with naming_stop(). */
int naming_start(const struct naming_config *config, struct naming **ret, struct error *err);
void naming_stop(struct naming *naming); /* NULL is fine */

/* There are new addresses. */
void naming_wake(struct naming *naming);

/* There are other symbols of a build id. */
void naming_renew(struct naming *naming, const struct build_id *id);

/*
 * Which of n build ids to ask a sender for, at most NAMING_WANTED_MAX: those that have addresses
 * without a name, whose symbols are nowhere, and which no other sender was asked for lately. Their
 * indices are in ret. Returns how many.
 */
size_t naming_wanted(struct naming *naming, const struct build_id *ids, size_t n, uint64_t now_s,
		     uint32_t *ret);

enum naming_state { NAMING_WAITS, NAMING_FOUND, NAMING_LACKS };

struct naming_module {
	const char *build_id;
	const char *path;   /* as a sender wrote it */
	uint64_t addresses; /* without a name */
	enum naming_state state;
};
/* Modules with such addresses. The callback must not call naming. */
void naming_list(struct naming *naming, void (*each)(void *, const struct naming_module *),
		 void *self);

struct naming_stats {
	uint64_t looked_up; /* addresses */
	uint64_t named;     /* of those */
	uint64_t unnamed;   /* in the store */
	uint64_t lacking;   /* modules whose symbols are nowhere */
	uint64_t failures;
};
struct naming_stats naming_stats(struct naming *naming);

#endif
