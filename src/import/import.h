/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_IMPORT_H
#define WICK_IMPORT_IMPORT_H

/*
 * import: profiles of others made recordings. One file for each format; table.c
 * lists them. A format is found by what is in the file, not by its name, and may be
 * compressed with gzip.
 *
 * What is read is hostile: everything is bounded by the size of the input.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_builder;

/* Larger files, and what inflates to more, are refused. */
#define IMPORT_MAX_BYTES (2ull << 30)

struct importer_ops {
	const char *name;    /* what messages call the format */
	const char *summary; /* one line of help */
	/* Whether the data looks like this format; cheap. */
	bool (*recognise)(const uint8_t *data, size_t size);
	int (*read)(const uint8_t *data, size_t size, struct import_builder *builder,
		    struct error *err);
};

/* All formats in the order in which they are tried, NULL last. */
extern const struct importer_ops *const importers[];

/* The format that these bytes (the first ones, or all) look like, NULL when none. */
const struct importer_ops *importer_find(const uint8_t *data, size_t size);

/*
 * Makes data a recording in output, a descriptor that is borrowed; name is what
 * messages call the input. Returns 1, or 0 when no format is recognised (nothing is
 * written then), or a negative errno.
 */
int import_run(const uint8_t *data, size_t size, const char *name, int output, struct error *err);

#endif
