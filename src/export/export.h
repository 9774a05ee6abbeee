/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_EXPORT_H
#define WICK_EXPORT_EXPORT_H

/*
 * export: a profile in the formats of others. One file for each format; table.c
 * lists them. Exporters know nothing about files: they append to a buffer.
 */

#include <stdint.h>

struct bytes;
struct error;
struct profile;

/* The value that suits the format: usually samples, else the main value. */
#define EXPORT_DEFAULT_VALUE UINT32_MAX

struct export_config {
	uint32_t value; /* index of the value type, for formats that hold only one */
};

struct exporter_ops {
	const char *name;      /* what the user types */
	const char *summary;   /* one line of help */
	const char *extension; /* without the dot */
	int (*write)(const struct profile *profile, const struct export_config *config,
		     struct bytes *out, struct error *err);
};

/* All formats, NULL last. */
extern const struct exporter_ops *const exporters[];

/* The exporter of a name, NULL when there is none. */
const struct exporter_ops *exporter_find(const char *name);

/* Appends the profile to out; on failure out holds part of it. */
int exporter_write(const struct exporter_ops *ops, const struct profile *profile,
		   const struct export_config *config, struct bytes *out, struct error *err);

#endif
