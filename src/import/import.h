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

#include "elf/elf.h"

struct error;
struct import_builder;
struct import_source;
struct recording_writer;

/* Larger files are refused. */
#define IMPORT_MAX_BYTES (2ull << 30)
/*
 * So is what gzip made small by more than a profile ever gets: a file may inflate to this
 * many times its size, to at least the second and at most the third number of bytes.
 */
#define IMPORT_INFLATE_TIMES 100u
#define IMPORT_INFLATE_FREE_BYTES (64ull << 20)
#define IMPORT_INFLATE_MAX_BYTES (1ull << 30)

struct importer_ops {
	const char *name;    /* what messages call the format */
	const char *summary; /* one line of help */
	/* Whether the data (its first megabyte) looks like this format; cheap. */
	bool (*recognise)(const uint8_t *data, size_t size);
	/* One of both: all at once, or part by part. */
	int (*read)(const uint8_t *data, size_t size, struct import_builder *builder,
		    struct error *err);
	int (*read_source)(struct import_source *source, struct import_builder *builder,
			   struct error *err);
	/*
	 * Of a program that looks at it at once, what it tells is kept in memory and not
	 * written, coded, and read again. For formats that have few samples for their
	 * stacks, no maps and no times.
	 */
	bool is_kept;
	/* Of a plug-in, in place of the functions above: its name, and what they are given. */
	const char *plugin;
	const void *origin;
	bool (*recognise_of)(const void *origin, const uint8_t *data, size_t size);
	int (*read_of)(const void *origin, const uint8_t *data, size_t size,
		       struct import_builder *builder, struct error *err);
};

/* Where a recording goes. */
struct import_output {
	int fd;        /* borrowed */
	bool may_keep; /* what ops->is_kept says may stay in memory instead */
	const struct import_host *host;
	const struct importer_ops *const *more; /* tried before ours, NULL last; NULL: none */
	struct recording_writer *kept;          /* the caller's; NULL: it is in fd */
};

/* The kernel whose addresses a file has, as far as it tells. */
struct import_kernel {
	struct build_id build_id; /* size 0: not told */
	const char *release;      /* "": not told */
	char symbol[64];          /* a symbol and where it was; "": not told */
	uint64_t address;
};

/* Where and when a file was made, as far as it tells. */
struct import_origin {
	const char *host;    /* "": not told */
	uint64_t written_ns; /* since 1970, when it was written last; 0: not known */
	uint32_t uid;        /* who it belongs to; ours when it is no file */
};

/* What importers ask of the machine that they run on. */
struct import_host {
	/* Adds names of kernel functions to a recording if they are those of this kernel. */
	void (*kernel_names)(struct recording_writer *writer, const struct import_kernel *kernel);
	/* Adds names of compiled code if it was made on this machine, by the reader's programs. */
	void (*jit_names)(struct recording_writer *writer, const struct import_origin *origin);
};

/* All formats in the order in which they are tried, NULL last. */
extern const struct importer_ops *const importers[];

/* The format that these bytes (the first ones, or all) look like, NULL when none. */
const struct importer_ops *importer_find(const uint8_t *data, size_t size);

/*
 * Makes what is in a source a recording in output, a descriptor that is borrowed; it is not
 * compressed. name is what messages call the input; without a host nothing is asked of it. Returns
 * 1, or 0 when no format is recognised (nothing is written then), or a negative errno.
 */
int import_run(struct import_source *source, const char *name, int output,
	       const struct import_host *host, struct error *err);

/* The same; the recording may be kept instead. */
int import_run_to(struct import_source *source, const char *name, struct import_output *output,
		  struct error *err);

#endif
