/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROFILE_H
#define WICK_PROFILE_H

/*
 * profile: where a program spends its time. Samples a process that runs, or loads a
 * recording; draws it, writes it in other formats, and walks its stacks and functions.
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
 * Structs that callers fill or have filled begin with their size: set it to
 * sizeof(struct …), the rest to 0. So a library that knows more members works with
 * programs that know fewer. A member that is set and that the library does not know is
 * -E2BIG.
 *
 * Threads: a profile does not change: any number of threads may read it. Walks and
 * tables of functions are used by one thread at a time. Different objects are
 * independent. Nothing here is for signal handlers.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wick/error.h>
#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_profile;

/* How files are looked at. NULL in place of it, and what is 0: as wick report does. */
struct wick_load_options {
	size_t size;                     /* sizeof(struct wick_load_options) */
	const char *event;               /* NULL: the one that was sampled */
	uint64_t from_ns;                /* since the recording began */
	uint64_t to_ns;                  /* after from_ns, else -ERANGE; 0: its end */
	const char *only;                /* a regular expression: stacks with such a function */
	const char *ignore;              /* stacks without */
	unsigned int symbolize;          /* WICK_SYMBOLIZE_… of <wick/symbolize.h> */
	unsigned int no_kernel;          /* 1: without the kernel's functions */
	const char *const *symbol_paths; /* as there; NULL: the usual places */
};

/*
 * Loads a recording, or any file that wick import takes: perf.data, folded stacks, pprof,
 * speedscope, found by what is in it. The caller releases *ret with wick_profile_free(). On
 * failure *ret is untouched. A damaged recording is loaded as far as it goes: see
 * struct wick_profile_info. "-" is standard input.
 */
WICK_API int wick_load(const char *path, const struct wick_load_options *options,
		       struct wick_profile **ret, struct wick_error *err);
WICK_API void wick_profile_free(struct wick_profile *profile); /* NULL is fine */

enum wick_record_mode {
	WICK_RECORD_CPU = 0,    /* time on the CPUs */
	WICK_RECORD_WALL = 1,   /* all time */
	WICK_RECORD_OFFCPU = 2, /* asleep, or waiting for a CPU */
};

struct wick_record_options {
	size_t size;                          /* sizeof(struct wick_record_options) */
	uint64_t duration_ns;                 /* 0: until the process ends */
	uint32_t frequency_hz;                /* 10 … 10000; 0: 997 */
	uint32_t mode;                        /* enum wick_record_mode */
	const char *engine;                   /* NULL: the best one that works here */
	const char *recording;                /* file that keeps all of it; NULL: none */
	const struct wick_load_options *load; /* for the profile */
	const int *stop_fd;                   /* ends it once it can be read; NULL: none */
	unsigned int no_children;             /* 1: without processes that it starts */
};

/*
 * Samples a process, all its threads, while it runs. Returns when the time is over, the
 * process has ended or stop_fd can be read; a stop_fd that is not open is -EBADF. ret may be
 * NULL if a recording is written.
 * What it may do is what wick record -p may do: see wick doctor. Signals, limits and
 * descriptors of the calling program stay as they are; but where nothing is left but the
 * engine "ptrace", SIGCHLD is that engine's meanwhile, and one such call at a time works.
 */
WICK_API int wick_profile_process(pid_t pid, const struct wick_record_options *options,
				  struct wick_profile **ret, struct wick_error *err);

/* What a profile is of, and what a reader must know to judge it. Counts are of samples. */
struct wick_profile_info {
	size_t size;       /* sizeof(struct wick_profile_info) */
	const char *title; /* belongs to the profile */
	uint64_t start_realtime_ns;
	uint64_t duration_ns;
	uint64_t period_ns; /* nominal distance of samples; 0: none */
	uint64_t samples;
	uint64_t lost;         /* known not to be in the file */
	uint64_t unreadable;   /* in damaged parts of the file */
	uint64_t truncated;    /* stacks that were cut before their root */
	uint64_t unsymbolised; /* whose innermost function has no name */
	uint32_t value_count;  /* kinds of values that each stack has */
	uint32_t main_value;   /* the one that is shown unless asked: below value_count */
	uint32_t incomplete;   /* 1: the file has no end */
};

WICK_API int wick_profile_describe(const struct wick_profile *profile,
				   struct wick_profile_info *ret, struct wick_error *err);

/* What a value is: "cpu" in "nanoseconds". NULL past the last one. */
WICK_API const char *wick_profile_value_name(const struct wick_profile *profile, uint32_t value);
WICK_API const char *wick_profile_value_unit(const struct wick_profile *profile, uint32_t value);

struct wick_profile_frame {
	const char *function; /* never NULL */
	const char *file;     /* "" when unknown */
	const char *module;   /* path, "[kernel]", "" when unknown */
	uint64_t vaddr;       /* in the module */
	uint32_t line;        /* 0: unknown */
	uint32_t inlined;     /* 1: into the frame before it */
};

struct wick_profile_stack {
	size_t size;                             /* sizeof(struct wick_profile_stack) */
	const struct wick_profile_frame *frames; /* the root first; valid until the next stack */
	size_t frame_count;
	const int64_t *values; /* value_count of them; belong to the profile */
	uint32_t value_count;
	uint32_t pid;
	uint32_t tid;
	const char *thread;  /* names */
	const char *process; /* "" when unknown */
};

struct wick_stacks;

/*
 * Walks the stacks: each comes once for every thread that had it. The profile must stay until
 * the walk is freed. wick_stacks_next() returns 1 with the next one, 0 after the last,
 * or a negative errno.
 */
WICK_API int wick_stacks_new(const struct wick_profile *profile, struct wick_stacks **ret,
			     struct wick_error *err);
WICK_API int wick_stacks_next(struct wick_stacks *stacks, struct wick_profile_stack *ret);
WICK_API void wick_stacks_free(struct wick_stacks *stacks); /* NULL is fine */

struct wick_profile_function {
	size_t size;      /* sizeof(struct wick_profile_function) */
	const char *name; /* texts belong to the profile */
	const char *file;
	const char *module;
	int64_t self;  /* of stacks that end in it */
	int64_t total; /* of stacks that it is in; each counts once */
};

struct wick_functions;

/*
 * The functions of a profile by what they cost themselves, most first. WICK_MAIN_VALUE, or a
 * value below value_count. The profile must stay until the table is freed.
 */
#define WICK_MAIN_VALUE UINT32_MAX
WICK_API int wick_functions_new(const struct wick_profile *profile, uint32_t value,
				struct wick_functions **ret, struct wick_error *err);
WICK_API size_t wick_functions_count(const struct wick_functions *functions);
/* 0; -ENOENT past the last one. */
WICK_API int wick_functions_get(const struct wick_functions *functions, size_t i,
				struct wick_profile_function *ret);
WICK_API void wick_functions_free(struct wick_functions *functions); /* NULL is fine */

/* What colours mean. */
enum wick_flame_colors {
	WICK_FLAME_CATEGORY = 0, /* program, library, kernel … */
	WICK_FLAME_MODULE = 1,
	WICK_FLAME_HASH = 2,     /* a hue for each function */
	WICK_FLAME_HEAT = 3,     /* the more a function costs itself, the hotter */
	WICK_FLAME_CVD = 4,      /* categories, told apart by colour-blind people too */
	WICK_FLAME_CONTRAST = 5, /* with patterns */
	WICK_FLAME_LANGUAGE = 6,
};

struct wick_flame_options {
	size_t size;        /* sizeof(struct wick_flame_options) */
	const char *title;  /* NULL: what was profiled */
	const char *value;  /* by its name; NULL: the main one */
	uint32_t colors;    /* enum wick_flame_colors */
	uint32_t width_px;  /* 200 … 100000; 0: 1200 */
	uint32_t icicle;    /* 1: the root at the top */
	uint32_t inverted;  /* 1: leaves first, growing towards their callers */
	uint32_t by_thread; /* 1: a tower for each thread */
};

/*
 * Results go to a file, whole or not at all; "-" is standard output. Or to memory:
 * *ret_text is followed by a 0 byte and released with wick_text_free().
 */
WICK_API int wick_flame_svg(const struct wick_profile *profile,
			    const struct wick_flame_options *options, const char *path,
			    struct wick_error *err);
WICK_API int wick_flame_svg_text(const struct wick_profile *profile,
				 const struct wick_flame_options *options, char **ret_text,
				 size_t *ret_size, struct wick_error *err);

/*
 * One line a stack: "process;main;parse 42". The number is samples; of wall and off-CPU time it
 * is microseconds, of the heap the value that is looked at.
 */
WICK_API int wick_export_folded(const struct wick_profile *profile, const char *path,
				struct wick_error *err);

/*
 * The same in a format by its name: those of wick list formats. Those that list samples one
 * by one (firefox, perfetto, samples) are -EOPNOTSUPP: they are made of a recording. speedscope
 * has every sample in the order of time: the file that was loaded is read again. If it is gone or
 * was changed since, equal stacks are added up.
 */
WICK_API int wick_export(const struct wick_profile *profile, const char *format, const char *path,
			 struct wick_error *err);
WICK_API int wick_export_text(const struct wick_profile *profile, const char *format,
			      char **ret_text, size_t *ret_size, struct wick_error *err);
WICK_API void wick_text_free(char *text); /* NULL is fine */

/* Any format, of a recording or what wick_load() takes. */
WICK_API int wick_export_recording(const char *recording, const struct wick_load_options *options,
				   const char *format, const char *path, struct wick_error *err);

#ifdef __cplusplus
}
#endif

#endif
