/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_IMPORT_H
#define WICK_IMPORT_IMPORT_H

/*
 * import: converts profiles of other tools into recordings. Each format has its own file; table.c
 * lists them. The format is detected by the content of the file, not by its name; the file may be
 * compressed with gzip.
 *
 * Input is untrusted: all work is bounded by the size of the input.
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
 * So are files that gzip compressed more than is possible for a profile: a file may decompress to
 * this many times its size; IMPORT_INFLATE_FREE_BYTES are always allowed, more than
 * IMPORT_INFLATE_MAX_BYTES never.
 */
#define IMPORT_INFLATE_TIMES 100u
#define IMPORT_INFLATE_FREE_BYTES (64ull << 20)
#define IMPORT_INFLATE_MAX_BYTES (1ull << 30)

struct importer_ops {
	const char *name;    /* name of the format in messages */
	const char *summary; /* one line of help */
	/* Whether the data (its first megabyte) looks like this format; cheap. */
	bool (*recognise)(const uint8_t *data, size_t size);
	/* One of the two: all at once, or piece by piece. */
	int (*read)(const uint8_t *data, size_t size, struct import_builder *builder,
		    struct error *err);
	int (*read_source)(struct import_source *source, struct import_builder *builder,
			   struct error *err);
	/*
	 * If the result is used immediately, it is kept in memory instead of being encoded, written
	 * and read again. For formats with few samples per stack, no mappings and no times.
	 */
	bool is_kept;
	/*
	 * For a plug-in, instead of the functions above: its name, and the argument of its
	 * functions.
	 */
	const char *plugin;
	const void *origin;
	bool (*recognise_of)(const void *origin, const uint8_t *data, size_t size);
	int (*read_of)(const void *origin, const uint8_t *data, size_t size,
		       struct import_builder *builder, struct error *err);
};

/* Where a recording goes. */
struct import_output {
	int fd;        /* borrowed */
	bool may_keep; /* with ops->is_kept the recording may stay in memory instead */
	const struct import_host *host;
	const struct importer_ops *const *more; /* tried before ours, NULL last; NULL: none */
	struct recording_writer *kept; /* owned by the caller; NULL: the recording is in fd */
};

/* The kernel that the addresses in a file belong to, as far as the file says. */
struct import_kernel {
	struct build_id build_id; /* size 0: unknown */
	const char *release;      /* "": unknown */
	char symbol[64];          /* a symbol and its address; "": unknown */
	uint64_t address;
};

/* Where and when a file was made, as far as it says. */
struct import_origin {
	const char *host;    /* "": unknown */
	uint64_t written_ns; /* time of the last write, since 1970; 0: unknown */
	uint32_t uid;        /* owner; ours if the input is not a file */
};

/* What importers need from the machine that they run on. */
struct import_host {
	/* Adds names of kernel functions to a recording if the running kernel is the same. */
	void (*kernel_names)(struct recording_writer *writer, const struct import_kernel *kernel);
	/* Adds names of JIT-compiled code if it ran on this machine, in processes of this user. */
	void (*jit_names)(struct recording_writer *writer, const struct import_origin *origin);
};

/* All formats in the order in which they are tried, NULL last. */
extern const struct importer_ops *const importers[];

/* The format that these bytes (the first ones, or all) look like, or NULL. */
const struct importer_ops *importer_find(const uint8_t *data, size_t size);

/*
 * Converts a source into a recording in `output`, a borrowed descriptor; the recording is not
 * compressed. `name` is the input in messages; host may be NULL. Returns 1, 0 if no format is
 * recognised (nothing is written then), or a negative errno.
 */
int import_run(struct import_source *source, const char *name, int output,
	       const struct import_host *host, struct error *err);

/* The same in the format with this name, whatever the data looks like, without help of the host. */
int import_run_as(const char *format, struct import_source *source, int output, struct error *err);

/* The same; the recording may be kept in memory instead. */
int import_run_to(struct import_source *source, const char *name, struct import_output *output,
		  struct error *err);

#endif
