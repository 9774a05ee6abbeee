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

#include "model/sink.h"

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
	uint64_t from_ns;     /* the same of what it covers, where that is a time: */
	uint64_t lasted_ns;   /* 0: it tells of a moment */
	uint64_t realtime_ns; /* 0: not known */
	uint32_t stack;       /* ids of the profile */
	uint32_t thread;
	uint32_t cpu;
	uint64_t weight;
	uint64_t times;    /* samples that it stands for, which weigh that together */
	const char *state; /* what the thread was doing; NULL or "": not told */
	const char *event;
	const char *value;
	const char *unit;
	/* Of the main event SCHEMA_SAMPLED, whoever told of it, unless it is a gauge. */
	enum schema_kind kind;
	const struct label *labels;
	size_t label_count;
};

/*
 * A format either adds samples up and has write(), or lists them and has sample().
 * Those that list may keep something of their own between samples: self.
 */
struct exporter_ops {
	const char *name;      /* what the user types */
	const char *summary;   /* one line of help */
	const char *extension; /* without the dot */
	bool binary;           /* nothing for a terminal */
	bool in_order;         /* write() wants profile->time.samples, where there are samples */
	int (*write)(const struct profile *profile, const struct export_config *config,
		     struct bytes *out, struct error *err);

	void *(*begin)(void); /* optional; NULL without memory */
	/* 0 or a negative errno */
	int (*sample)(void *self, const struct profile *profile, const struct export_sample *sample,
		      struct bytes *out);
	/* Appends a part of what follows the samples; 1: there is more, 0: done. Optional. */
	int (*finish)(void *self, const struct profile *profile, struct bytes *out);
	void (*free)(void *self); /* optional: as begin() */

	/* Of a plug-in, in place of write(): its name, and what write_of() is given. */
	const char *plugin;
	const void *origin;
	int (*write_of)(const void *origin, const struct profile *profile, struct bytes *out,
			struct error *err);
};

/* All formats, NULL last. */
extern const struct exporter_ops *const exporters[];

/* The exporter of a name, NULL when there is none. */
const struct exporter_ops *exporter_find(const char *name);

/* Whether the format lists samples one by one: then an export_list is to be used. */
bool exporter_lists_samples(const struct exporter_ops *ops);

/* The listing of samples: they are appended to a buffer that may be emptied in between. */
struct export_list {
	const struct exporter_ops *ops;
	void *self;
};

int export_list_init(struct export_list *list, const struct exporter_ops *ops, struct error *err);
void export_list_fini(struct export_list *list);
int export_list_sample(struct export_list *list, const struct profile *profile,
		       const struct export_sample *sample, struct bytes *out, struct error *err);

/*
 * To be called after the last sample, with the profile that they were of, until it
 * returns 0; 1 means that there is more to come.
 */
int export_list_finish(struct export_list *list, const struct profile *profile, struct bytes *out,
		       struct error *err);

/* Appends the profile to out; on failure out holds part of it. */
int exporter_write(const struct exporter_ops *ops, const struct profile *profile,
		   const struct export_config *config, struct bytes *out, struct error *err);

#endif
