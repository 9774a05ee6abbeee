/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROFILE_H
#define WICK_PROFILE_H

/*
 * profile: shows where a program spends its time. Samples a running process or loads a recording,
 * draws flame graphs, exports other formats, and iterates over stacks and functions.
 *
 *	struct wick_record_options options = {.size = sizeof(options),
 *					      .duration_ns = 5000000000};
 *	struct wick_profile *profile;
 *
 *	if (wick_profile_process(pid, &options, &profile, &err) < 0)
 *		…
 *	wick_flame_svg(profile, NULL, "flame.svg", &err);
 *	wick_profile_free(profile);
 *
 * Structs that the caller fills, or passes to be filled, begin with their size: set it to
 * sizeof(struct …) and the rest to 0. This lets a newer library with more members work with
 * programs built against fewer. If the caller sets a member that the library does not know, the
 * call returns -E2BIG.
 *
 * Threads: a profile is immutable, so any number of threads may read it. A stack iterator or a
 * function table is used by one thread at a time. Different objects are independent. Do not call
 * these functions from signal handlers.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wick/error.h>
#include <wick/export.h>
#include <wick/flame.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_profile;

/* How to load a file. NULL, and members that are 0, mean the defaults of wick report. */
struct wick_load_options {
	size_t size;            /* sizeof(struct wick_load_options) */
	const char *event;      /* NULL: the main event */
	uint64_t from_ns;       /* since the recording began */
	uint64_t to_ns;         /* after from_ns, else -ERANGE; 0: its end */
	const char *only;       /* regular expression: keep stacks with a matching function */
	const char *ignore;     /* regular expression: drop stacks with a matching function */
	unsigned int symbolize; /* WICK_SYMBOLIZE_… flags of <wick/symbolize.h> */
	unsigned int no_kernel; /* 1: leave out kernel functions */
	const char *const *symbol_paths; /* as in <wick/symbolize.h>; NULL: the default places */
};

/*
 * Loads a recording, or any file that wick import accepts, such as perf.data, folded stacks, pprof
 * or speedscope; the format is detected from the content. The caller releases *ret with
 * wick_profile_free(). On failure *ret is untouched. Of a damaged recording it loads what it can:
 * see struct wick_profile_info. The path "-" means standard input.
 */
WICK_API int wick_load(const char *path, const struct wick_load_options *options,
		       struct wick_profile **ret, struct wick_error *err);
WICK_API void wick_profile_free(struct wick_profile *profile); /* NULL is fine */

enum wick_record_mode {
	WICK_RECORD_CPU = 0,    /* time on a CPU */
	WICK_RECORD_WALL = 1,   /* all time */
	WICK_RECORD_OFFCPU = 2, /* time asleep or waiting for a CPU */
};

struct wick_record_options {
	size_t size;                          /* sizeof(struct wick_record_options) */
	uint64_t duration_ns;                 /* 0: until the process ends */
	uint32_t frequency_hz;                /* 10 … 10000; 0: 997 */
	uint32_t mode;                        /* enum wick_record_mode */
	const char *engine;                   /* NULL: the best one that works here */
	const char *recording;                /* file to keep the recording in; NULL: none */
	const struct wick_load_options *load; /* for the profile */
	const int *stop_fd;       /* stops the recording when it becomes readable; NULL: none */
	unsigned int no_children; /* 1: do not sample child processes */
	const int *started_fd;    /* gets 8 bytes when sampling has started; NULL: none */
};

/*
 * Samples all threads of a running process. Returns when the time is up, the process has ended or
 * stop_fd is readable; returns -EBADF if a descriptor is not open. started_fd is a pipe or an
 * eventfd: a program that waits for it misses nothing of what it does next. ret may be NULL if a
 * recording is written. It needs the same permissions as wick record -p: see wick doctor. It does
 * not change signals, limits and descriptors of the calling program, with one exception: if only
 * the engine "ptrace" works, that engine uses SIGCHLD during the call, and only one such call may
 * run at a time.
 */
WICK_API int wick_profile_process(pid_t pid, const struct wick_record_options *options,
				  struct wick_profile **ret, struct wick_error *err);

/* What was profiled, and how reliable the result is. Counts are numbers of samples. */
struct wick_profile_info {
	size_t size;       /* sizeof(struct wick_profile_info) */
	const char *title; /* belongs to the profile */
	uint64_t start_realtime_ns;
	uint64_t duration_ns;
	uint64_t period_ns; /* nominal time between samples; 0: none */
	uint64_t samples;
	uint64_t lost;         /* known to be missing from the file */
	uint64_t unreadable;   /* in damaged parts of the file */
	uint64_t truncated;    /* whose stacks were cut before their root */
	uint64_t unsymbolised; /* whose innermost function has no name */
	uint32_t value_count;  /* number of values of each stack */
	uint32_t main_value;   /* the default value: below value_count */
	uint32_t incomplete;   /* 1: the file has no end mark */
};

WICK_API int wick_profile_describe(const struct wick_profile *profile,
				   struct wick_profile_info *ret, struct wick_error *err);

/* Name and unit of a value: "cpu" in "nanoseconds". NULL past the last one. */
WICK_API const char *wick_profile_value_name(const struct wick_profile *profile, uint32_t value);
WICK_API const char *wick_profile_value_unit(const struct wick_profile *profile, uint32_t value);

struct wick_profile_frame {
	const char *function; /* never NULL */
	const char *file;     /* "" when unknown */
	const char *module;   /* path, "[kernel]", "" when unknown */
	uint64_t vaddr;       /* in the module */
	uint32_t line;        /* 0: unknown */
	uint32_t inlined;     /* 1: inlined into the previous frame */
};

/* Something a program reported about itself, or the recorder knew: "tenant", "blue". */
struct wick_profile_label {
	const char *key;
	const char *value;
};

struct wick_profile_stack {
	size_t size;                             /* sizeof(struct wick_profile_stack) */
	const struct wick_profile_frame *frames; /* root first; valid until the next stack */
	size_t frame_count;
	const int64_t *values; /* value_count entries; owned by the profile */
	uint32_t value_count;
	uint32_t pid;
	uint32_t tid;
	const char *thread;                      /* names */
	const char *process;                     /* "" when unknown */
	const char *state;                       /* "sleeping" …; "" when unknown */
	const struct wick_profile_label *labels; /* valid until the next stack */
	size_t label_count;
};

struct wick_stacks;

/*
 * Iterates over the stacks; each comes once for every thread, state and set of labels it had. The
 * profile must outlive the iterator. wick_stacks_next() returns 1 with the next stack, 0 after the
 * last one, or a negative errno.
 */
WICK_API int wick_stacks_new(const struct wick_profile *profile, struct wick_stacks **ret,
			     struct wick_error *err);
WICK_API int wick_stacks_next(struct wick_stacks *stacks, struct wick_profile_stack *ret);
WICK_API void wick_stacks_free(struct wick_stacks *stacks); /* NULL is fine */

struct wick_profile_function {
	size_t size;      /* sizeof(struct wick_profile_function) */
	const char *name; /* texts are owned by the profile */
	const char *file;
	const char *module;
	int64_t self;  /* sum over stacks that end in it */
	int64_t total; /* sum over stacks that contain it; each stack counts once */
};

struct wick_functions;

/*
 * The functions of a profile, sorted by self value, largest first. `value` is WICK_MAIN_VALUE or a
 * number below value_count. The profile must outlive the table.
 */
#define WICK_MAIN_VALUE UINT32_MAX
WICK_API int wick_functions_new(const struct wick_profile *profile, uint32_t value,
				struct wick_functions **ret, struct wick_error *err);
WICK_API size_t wick_functions_count(const struct wick_functions *functions);
/* Returns 0, or -ENOENT past the last one. */
WICK_API int wick_functions_get(const struct wick_functions *functions, size_t i,
				struct wick_profile_function *ret);
WICK_API void wick_functions_free(struct wick_functions *functions); /* NULL is fine */

/*
 * Files are written completely or not at all; "-" means standard output. wick_export_text() returns
 * the result in memory: *ret_text ends with a 0 byte, and the caller releases it with
 * wick_text_free().
 *
 * One line per stack: "process;main;parse 42". The number is a count of samples; for wall and
 * off-CPU time it is microseconds, for the heap the main value.
 */
WICK_API int wick_export_folded(const struct wick_profile *profile, const char *path,
				struct wick_error *err);

/*
 * Exports to a format by name: see wick list formats. Formats that need single samples (firefox,
 * perfetto, samples) return -EOPNOTSUPP: use wick_export_recording(). speedscope lists every sample
 * in time order, for which the loaded file is read again; if it has been removed or changed, equal
 * stacks are merged.
 */
WICK_API int wick_export(const struct wick_profile *profile, const char *format, const char *path,
			 struct wick_error *err);
WICK_API int wick_export_text(const struct wick_profile *profile, const char *format,
			      char **ret_text, size_t *ret_size, struct wick_error *err);
WICK_API void wick_text_free(char *text); /* NULL is fine */

/* Exports to any format, from a recording or any other file that wick_load() accepts. */
WICK_API int wick_export_recording(const char *recording, const struct wick_load_options *options,
				   const char *format, const char *path, struct wick_error *err);

enum wick_page_kind {
	WICK_PAGE_FLAME = 0, /* as wick flame -o FILE.html: the graph, a table, a timeline */
	WICK_PAGE_HEAP = 1,  /* as wick heap-report: sites, peak and timeline of a heap */
};

/*
 * Writes an interactive page about a recording, or any other file that wick_load() accepts: one
 * HTML file that loads and sends nothing. It has no source text. `kind` is an enum wick_page_kind.
 * Returns -EINVAL if a page about the heap is asked for and there is none.
 */
WICK_API int wick_page(const char *recording, const struct wick_load_options *options,
		       uint32_t kind, const char *path, struct wick_error *err);

#ifdef __cplusplus
}
#endif

#endif
