/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_WINDOW_H
#define WICK_AGENT_WINDOW_H

/*
 * window: writes what was sampled in a window of time as a recording: one sample for each process,
 * stack and bucket, with the labels of the process. docs/design/continuous.md describes it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct error;
struct label;
struct live_profile;
struct module;
struct profile;
struct services;

/* A time without samples. CLOCK_MONOTONIC, like all times here. */
struct window_gap {
	uint64_t start_ns;
	uint64_t end_ns; /* UINT64_MAX: it has not ended */
	const char *reason;
};

/* A fact for the recording. */
struct window_fact {
	const char *key;
	const char *value;
};

struct window {
	const char *id;
	const char *host;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bucket_ns; /* length of the slices of the profile */
	const char *engine;
	uint32_t asked_hz; /* 0: it was not sampled at a rate */
	double achieved_hz;
	bool by_address; /* names are left to the reader: build ids and addresses are written */
	/* With by_address: called once for each file, with a process that runs it; optional. */
	void (*module)(void *self, const struct module *module, uint32_t pid);
	void *module_self;
	/* Names that are prepared later than this are left to the reader as well. 0: do not wait.
	 */
	uint64_t names_deadline_ns;
	const struct window_gap *gaps;
	size_t gap_count;
	const struct window_fact *facts; /* more of them */
	size_t fact_count;
	/* CLOCK_REALTIME minus CLOCK_MONOTONIC: the same for all times in a window. */
	uint64_t to_real_ns;
};

struct window_totals {
	uint64_t samples;
	uint64_t rows;
	uint64_t lost;
	uint64_t unnamed; /* samples whose innermost function has no name; 0 with by_address */
	uint64_t weight;
	uint64_t bytes;
};

/* Takes over fd, on failure too. ret may be NULL. */
int window_write(const struct window *window, struct live_profile *live,
		 const struct services *services, int fd, struct window_totals *ret,
		 struct error *err);

/* What was recorded of some processes in another way. */
struct window_profile {
	const struct profile *profile;
	bool (*wants)(const char *type); /* which values become types of the window */
	/* The labels of a process: fills at most LABELS_MAX and returns their number. */
	size_t (*labels)(void *self, pid_t pid, struct label *ret);
	void *self;
};

/* The same for a profile: all of it is in the first bucket. Sets no weight in *ret. */
int window_write_profile(const struct window *window, const struct window_profile *from, int fd,
			 struct window_totals *ret, struct error *err);

#endif
