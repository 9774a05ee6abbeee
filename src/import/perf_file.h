/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_FILE_H
#define WICK_IMPORT_PERF_FILE_H

/*
 * perf_file: what perf.data has besides its records: the events and their ids, the build ids of
 * files, and the machine.
 *
 * In a file this is before and after the records; in pipe mode it comes as special records, which
 * perf_file_learn() reads.
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
	uint32_t name;   /* string id; "": unknown */
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
	uint32_t ids_read;             /* including repeated ones */
	VEC(struct perf_build_id) build_ids;
	struct strings strings;
	struct id_index id_index;
	struct id_index path_index;
	uint64_t data_start;
	uint64_t data_end;  /* UINT64_MAX: the end of the file */
	const char *damage; /* why its end is missing; NULL: it is not */
	uint32_t host;      /* string ids; "": unknown */
	uint32_t release;   /* of the kernel */
	uint32_t machine;
	uint32_t command;
	uint64_t clock_ns; /* a moment on the clock of the records and on the realtime clock; 0:
			      none */
	uint64_t realtime_ns;
};

/* Whether the bytes begin like perf.data, even one that cannot be read. */
bool perf_file_is(const uint8_t *data, size_t size);

/* Reads everything outside the records. The caller must call perf_file_fini() in any case. */
int perf_file_open(struct perf_file *file, struct import_source *source, struct error *err);
void perf_file_fini(struct perf_file *file);

/* Reads a record that describes the file itself; ignores other kinds. */
int perf_file_learn(struct perf_file *file, const struct perf_record *record, struct error *err);

/* The event of a record; NULL if the file does not describe it. */
struct perf_event *perf_file_event(struct perf_file *file, const struct perf_event_header *record);

/* The event of an id; NULL if the file does not describe it. */
const struct perf_event *perf_file_event_of(const struct perf_file *file, uint64_t id);

/* The build id of a path; NULL: unknown. */
const struct build_id *perf_file_build_id(const struct perf_file *file, const char *path);

static inline const char *perf_file_text(const struct perf_file *file, uint32_t id)
{
	return strings_get(&file->strings, id);
}

#endif
