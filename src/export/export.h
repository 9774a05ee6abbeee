/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_EXPORT_H
#define WICK_EXPORT_EXPORT_H

/*
 * export: a profile in the formats of others. One file for each format; table.c
 * lists them. Exporters know nothing about files: they append to a buffer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct error;
struct label;
struct profile;

/* The value that suits the format: usually samples, else the main value. */
#define EXPORT_DEFAULT_VALUE UINT32_MAX

struct export_config {
	uint32_t value; /* index of the value type, for formats that hold only one */
	bool marks;     /* folded: name the kind of a frame: _[k] kernel, _[i] inlined, _[j] JIT */
};

/* One sample, for formats that list them. Text is borrowed. */
struct export_sample {
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	uint64_t since_ns;    /* since the recording began */
	uint64_t realtime_ns; /* 0: not known */
	uint32_t stack;       /* ids of the profile */
	uint32_t thread;
	uint32_t cpu;
	uint64_t weight;
	const char *event;
	const char *value;
	const char *unit;
	const struct label *labels;
	size_t label_count;
};

struct exporter_ops {
	const char *name;      /* what the user types */
	const char *summary;   /* one line of help */
	const char *extension; /* without the dot */
	/* NULL: the format lists samples */
	int (*write)(const struct profile *profile, const struct export_config *config,
		     struct bytes *out, struct error *err);
	/* optional; NULL: the format adds samples up and has write() */
	void (*sample)(const struct profile *profile, const struct export_sample *sample,
		       struct bytes *out);
};

/* All formats, NULL last. */
extern const struct exporter_ops *const exporters[];

/* The exporter of a name, NULL when there is none. */
const struct exporter_ops *exporter_find(const char *name);

/* Whether the format lists samples one by one: then exporter_sample() is to be used. */
bool exporter_lists_samples(const struct exporter_ops *ops);

/* Appends one sample to out, which fails without memory. */
void exporter_sample(const struct exporter_ops *ops, const struct profile *profile,
		     const struct export_sample *sample, struct bytes *out);

/* Appends the profile to out; on failure out holds part of it. */
int exporter_write(const struct exporter_ops *ops, const struct profile *profile,
		   const struct export_config *config, struct bytes *out, struct error *err);

#endif
