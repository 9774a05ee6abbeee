/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_FILE_H
#define WICK_IMPORT_PERF_FILE_H

/*
 * perf_file: what perf.data tells besides its records: which events, under which
 * ids, which files had which build id, on which machine.
 *
 * In a file this stands before and behind the records; in what perf writes into a
 * pipe it comes as records of their own, which perf_file_learn() takes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/strings.h"
#include "perf_records/perf_record.h"

struct error;
struct import_source;
struct perf_record;

/* One event of the file. */
struct perf_event {
	struct perf_event_attr attr;
	struct perf_record_layout layout;
	uint32_t name;   /* string id; "": not told */
	uint32_t schema; /* for the importer */
};

struct perf_event_id {
	uint64_t id;
	uint32_t event;
};

struct perf_build_id {
	uint32_t path; /* string id */
	struct build_id build_id;
};

struct perf_file {
	VEC(struct perf_event) events;
	VEC(struct perf_event_id) ids; /* each once */
	uint32_t ids_read;             /* those that came again as well */
	VEC(struct perf_build_id) build_ids;
	struct strings strings;
	struct id_index id_index;
	struct id_index path_index;
	uint64_t data_start;
	uint64_t data_end;  /* UINT64_MAX: the end of the file */
	const char *damage; /* why its end is not there; NULL: it is */
	uint32_t host;      /* string ids; "": not told */
	uint32_t release;   /* of the kernel */
	uint32_t machine;
	uint32_t command;
	uint64_t clock_ns; /* a moment on the clock of the records and on the real one; 0: none */
	uint64_t realtime_ns;
};

/* Whether the bytes begin like perf.data, also one that cannot be read. */
bool perf_file_is(const uint8_t *data, size_t size);

/* Reads all that does not stand among the records. The caller releases in any case. */
int perf_file_open(struct perf_file *file, struct import_source *source, struct error *err);
void perf_file_fini(struct perf_file *file);

/* Takes a record that tells of the file itself; of other kinds it takes nothing. */
int perf_file_learn(struct perf_file *file, const struct perf_record *record, struct error *err);

/* The event that a record is of; NULL when the file tells of none. */
struct perf_event *perf_file_event(struct perf_file *file, const struct perf_event_header *record);

/* The event of an id, NULL for one that the file does not tell of. */
const struct perf_event *perf_file_event_of(const struct perf_file *file, uint64_t id);

/* The build id of a path, NULL when none is told. */
const struct build_id *perf_file_build_id(const struct perf_file *file, const char *path);

static inline const char *perf_file_text(const struct perf_file *file, uint32_t id)
{
	return strings_get(&file->strings, id);
}

#endif
