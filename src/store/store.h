/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_STORE_H
#define WICK_STORE_STORE_H

/*
 * store: the history of profiles: rows of (series, time, stack, value).
 *
 * A series is identified by its labels, for ever. All functions may be called from several threads
 * at once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct profile;
struct store;

struct store_config {
	/*
	 * clickhouse://HOST:PORT[,HOST:PORT]/DATABASE, see cluster/cluster_url.h; NULL: embedded,
	 * in the folder.
	 */
	const char *url;
	const char *user; /* of ClickHouse; NULL: its default */
	const char *password;
	const char *folder;     /* created when missing, mode 0700 */
	const char *library;    /* path of libduckdb.so; NULL: searched for */
	uint64_t memory_bytes;  /* limit of the database; 0: the default */
	uint64_t keep_full_s;   /* age at which rows are merged into 5-minute buckets; 0: 30 days */
	uint64_t keep_merged_s; /* age at which those are removed; 0: a year */
	uint64_t keep_bytes;    /* size on disk above which the oldest are removed; 0: no limit */
	uint32_t max_series; /* series of one service, above which labels are merged; 0: default */
};

struct store_label {
	const char *name;
	const char *value;
};

struct store_series {
	const char *service;
	const char *type; /* "cpu", "off-cpu", "alloc_space" … */
	const char *unit; /* "nanoseconds", "bytes" … */
	bool is_gauge;    /* levels: merged by their mean, not by their sum */
	const char *host;
	const char *release; /* "": unknown */
	const struct store_label *labels;
	size_t label_count;
};

struct store_row {
	uint32_t series; /* index into the batch's series */
	uint32_t time_s; /* start of the bucket, since 1970 */
	uint32_t stack;  /* of the batch's profile */
	uint64_t samples;
	int64_t value;
};

/* A time without samples, and why. */
struct store_gap {
	const char *host;
	uint32_t from_s;
	uint32_t to_s;
	const char *reason;
};

/* Borrowed for the call. */
struct store_batch {
	const char *id; /* a batch with an id that is there already is not stored again */
	/*
	 * Who sends such batches in order, each until it is acknowledged. NULL: nobody knows, so
	 * the id is remembered for a week only.
	 */
	const char *sender;
	const struct profile *profile;
	const struct store_series *series;
	size_t series_count;
	const struct store_row *rows;
	size_t row_count;
	const struct store_gap *gaps;
	size_t gap_count;
};

enum store_match_kind { MATCH_EQUAL, MATCH_NOT_EQUAL, MATCH_REGEX, MATCH_NOT_REGEX };

/* "service", "host", "release" and "type" are labels here too. */
struct store_match {
	const char *name;
	const char *value;
	enum store_match_kind kind;
};

struct store_selector {
	const char *type; /* NULL: "cpu"; "": all */
	const struct store_match *matches;
	size_t match_count;
	uint32_t from_s;
	uint32_t to_s; /* not included */
};

/* The caller releases *ret with store_close(). */
int store_open(const struct store_config *config, struct store **ret, struct error *err);
void store_close(struct store *store); /* NULL is fine */

/* Returns 0 when the batch is on disk, 1 if it was there already, or a negative errno. */
int store_append(struct store *store, const struct store_batch *batch, struct error *err);

/*
 * Merges, sorts and removes what is due at this time. Called every 20 seconds by one thread.
 * It may take seconds; the other functions work meanwhile.
 */
int store_maintain(struct store *store, uint64_t now_s, struct error *err);

/*
 * The sum of all that is selected: value 0 is the samples, value 1 the type. Levels are averaged
 * over the time. Files that cannot be read are left out and counted in quality.damaged_chunks. The
 * caller releases *ret with profile_free().
 */
int store_profile(struct store *store, const struct store_selector *selector, struct profile **ret,
		  struct error *err);

/* One line of a list. Texts are valid during the call. Return false to end. */
struct store_item {
	const char *name; /* of a service, host, release, label, value, function, reason of a gap */
	const char *detail; /* host of a gap, unit of a type; "" otherwise */
	uint64_t samples;
	int64_t value;   /* total */
	int64_t self;    /* of functions: as the leaf */
	uint32_t from_s; /* first and last time */
	uint32_t to_s;
};

typedef bool (*store_item_fn)(void *self, const struct store_item *item);

/* The values of a label (or "service", "host", "release", "type"), most expensive first. */
int store_values(struct store *store, const struct store_selector *selector, const char *label,
		 store_item_fn each, void *self, struct error *err);
int store_label_names(struct store *store, const struct store_selector *selector,
		      store_item_fn each, void *self, struct error *err);
int store_top(struct store *store, const struct store_selector *selector, size_t limit,
	      store_item_fn each, void *self, struct error *err);
/* By time: items have the step's start and end, and the value of a label in name. */
struct store_over_time {
	const char *function; /* what it costs with what it calls; NULL: everything */
	const char *group_by; /* a label, each value of which has its own items; NULL: none */
	uint32_t step_s;      /* 0: 60 */
};
int store_over_time(struct store *store, const struct store_selector *selector,
		    const struct store_over_time *what, store_item_fn each, void *self,
		    struct error *err);
int store_gaps(struct store *store, const struct store_selector *selector, store_item_fn each,
	       void *self, struct error *err);

/* The files that cannot be read and are left out of answers: name is the path, detail says why. */
int store_damaged(struct store *store, store_item_fn each, void *self, struct error *err);

/*
 * Addresses that were stored without a name are kept by build id and ELF address, so that symbols
 * that come later improve old profiles.
 */
struct store_address {
	uint32_t id;
	/* When it changes, ids may mean other addresses: those not on disk were forgotten. */
	unsigned int generation;
	uint64_t vaddr;
};
/* Returns false to end. It must not call the store, like the next. */
typedef bool (*store_address_fn)(void *self, const struct store_address *address);
/* The addresses of a build id with this id or a larger one; ids grow with time. */
int store_unnamed(struct store *store, const char *build_id, uint32_t from_id,
		  store_address_fn each, void *self, struct error *err);

/* A module that has such addresses. */
struct store_unnamed_module {
	const char *build_id; /* in hex */
	const char *path;
	uint64_t addresses;      /* how many */
	uint32_t last_id;        /* the largest */
	unsigned int generation; /* of the ids */
};
typedef bool (*store_unnamed_fn)(void *self, const struct store_unnamed_module *module);
int store_unnamed_modules(struct store *store, store_unnamed_fn each, void *self,
			  struct error *err);

struct store_name {
	const char *function;
	const char *file; /* "": unknown */
	uint32_t line;    /* 0: unknown */
};

/* The names of one address, from the outermost function to the innermost inlined one. */
struct store_naming {
	uint32_t id; /* this and the next: of a store_address */
	unsigned int generation;
	const struct store_name *names;
	size_t name_count;
};
/* Returns -ESTALE, and sets none, if ids are of another generation: ask for the addresses again. */
int store_set_names(struct store *store, const struct store_naming *namings, size_t count,
		    struct error *err);

/* What /metrics shows. */
struct store_stats {
	uint64_t batches;
	uint64_t duplicates;
	uint64_t commits; /* that these batches took: some are written together */
	uint64_t rows;
	uint64_t hot_rows;
	uint64_t stacks;
	uint64_t functions;
	uint64_t series;
	uint64_t bytes;      /* on disk */
	uint64_t file_bytes; /* of those in closed hours */
	uint64_t overflowed_series;
	uint64_t damaged_files; /* left out of answers */
};
void store_stats(struct store *store, struct store_stats *ret);

#endif
