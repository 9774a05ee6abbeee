/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_EXPORT_H
#define WICK_EXPORT_EXPORT_H

/*
 * export: writes a profile in formats of other tools. Each format has its own file; table.c lists
 * them. Exporters know nothing about files: they append to a buffer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sink.h"

struct bytes;
struct error;
struct label;
struct profile;

/* The default value of the format: usually samples, else the main value. */
#define EXPORT_DEFAULT_VALUE UINT32_MAX

struct export_config {
	uint32_t value; /* index of the value type, for formats that hold only one */
	bool marks;     /* folded: mark the kind of a frame: _[k] kernel, _[i] inlined, _[j] JIT */
	const char *host; /* otlp: where samples without a label host are from; NULL: unknown */
};

/* One sample, for formats that list them. Text is borrowed. */
struct export_sample {
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	uint64_t since_ns;    /* since the recording began */
	uint64_t from_ns;     /* start of the time it covers, since the recording began */
	uint64_t lasted_ns;   /* length of that time; 0: a moment */
	uint64_t realtime_ns; /* 0: unknown */
	uint32_t stack;       /* ids of the profile */
	uint32_t thread;
	uint32_t cpu;
	uint64_t weight;
	uint64_t times;    /* samples that it represents; weight is their sum */
	const char *state; /* what the thread was doing; NULL or "": unknown */
	const char *event;
	const char *value;
	const char *unit;
	/* For the main event always SCHEMA_SAMPLED, unless it is a gauge. */
	enum schema_kind kind;
	const struct label *labels;
	size_t label_count;
	uint32_t label_set; /* samples of a file with the same number have the same labels */
};

/*
 * A format either holds sums and has write(), or lists single samples and has sample(). Formats
 * that list samples may keep state between them: self.
 */
struct exporter_ops {
	const char *name;      /* what the user types */
	const char *summary;   /* one line of help */
	const char *extension; /* without the dot */
	bool binary;           /* not for a terminal */
	bool in_order;         /* write() needs profile->time.samples, if there are samples */
	int (*write)(const struct profile *profile, const struct export_config *config,
		     struct bytes *out, struct error *err);

	void *(*begin)(void); /* optional; returns NULL if out of memory */
	/* Returns 0 or a negative errno. */
	int (*sample)(void *self, const struct profile *profile, const struct export_sample *sample,
		      struct bytes *out);
	/*
	 * Appends a part of the data after the samples. Returns 1 if there is more, 0 when done.
	 * Optional.
	 */
	int (*finish)(void *self, const struct profile *profile, struct bytes *out);
	bool heap;                /* finish() also writes the sums of a heap, and its tracks */
	void (*free)(void *self); /* optional, like begin() */

	/* For a plug-in, instead of write(): its name, and the argument of write_of(). */
	const char *plugin;
	const void *origin;
	int (*write_of)(const void *origin, const struct profile *profile, struct bytes *out,
			struct error *err);
};

/* All formats, NULL last. */
extern const struct exporter_ops *const exporters[];

/* The exporter with this name, or NULL. */
const struct exporter_ops *exporter_find(const char *name);

/* Whether the format lists single samples: then use an export_list. */
bool exporter_lists_samples(const struct exporter_ops *ops);

/* Lists single samples: they are appended to a buffer that may be emptied in between. */
struct export_list {
	const struct exporter_ops *ops;
	void *self;
};

int export_list_init(struct export_list *list, const struct exporter_ops *ops, struct error *err);
void export_list_fini(struct export_list *list);
int export_list_sample(struct export_list *list, const struct profile *profile,
		       const struct export_sample *sample, struct bytes *out, struct error *err);

/*
 * Call it after the last sample, with the same profile, until it returns 0; 1 means that there is
 * more.
 */
int export_list_finish(struct export_list *list, const struct profile *profile, struct bytes *out,
		       struct error *err);

/* Appends the profile to out; on failure out has a part of it. */
int exporter_write(const struct exporter_ops *ops, const struct profile *profile,
		   const struct export_config *config, struct bytes *out, struct error *err);

#endif
