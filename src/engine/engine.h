/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_ENGINE_H
#define WICK_ENGINE_ENGINE_H

/*
 * engine: a source of samples.
 *
 * An engine watches a target and pushes what it sees into a sink until it is
 * stopped. Engines know nothing about files, formats or the command line.
 *
 *	engine_open()	everything is armed, nothing is sampled yet
 *	engine_start()	samples flow (a command starts them itself, by its exec)
 *	engine_drain()	moves what has gathered into the sink
 *	engine_stop()	no more samples; the last ones have been moved
 *
 * Threads: one thread drives an engine; the sink is called on that thread, only from inside
 * these functions.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/heap_config.h"

struct engine;
struct engine_stats;
struct error;
struct sink;

/* Which time is recorded. */
enum engine_mode {
	ENGINE_MODE_CPU,    /* on the CPUs */
	ENGINE_MODE_WALL,   /* all */
	ENGINE_MODE_OFFCPU, /* asleep, or waiting for a CPU */
};

enum target_kind {
	TARGET_COMMAND,   /* one process that waits for its exec */
	TARGET_PROCESSES, /* all threads of these, including new ones */
	TARGET_THREADS,   /* these only */
	TARGET_MACHINE,
	TARGET_CGROUP, /* all processes of a control group and of those below it */
};

struct target {
	enum target_kind kind;
	const pid_t *ids; /* pids or tids */
	size_t count;
	bool children;       /* follow processes that the target starts */
	const char *cgroup;  /* the folder of a control group */
	const char *program; /* of a command, as the user typed it; NULL: unknown */
	bool joins;          /* processes that have connected to the engine themselves */
};

enum engine_unwind {
	ENGINE_UNWIND_AUTO,  /* what the engine does best */
	ENGINE_UNWIND_FP,    /* by frame pointers */
	ENGINE_UNWIND_DWARF, /* by the tables compiled from CFI */
};

/* Whether the calls of interpreters are read: those of Python programs. */
enum engine_python {
	ENGINE_PYTHON_AUTO, /* where there is one that can be read */
	ENGINE_PYTHON_OFF,
	ENGINE_PYTHON_ONLY, /* and native frames are left out of stacks with such calls */
};

/* The most that can be copied of a stack, and the default: what a sample has room for. */
#define ENGINE_STACK_BYTES 65528u

struct engine_config {
	enum engine_mode mode;
	uint64_t least_away_ns; /* shorter times off a CPU are left out */
	double away_budget;     /* share of the target's time that these may cost; 0: any */
	bool wakers;            /* record the stacks of who wakes threads off their CPUs */
	bool may_fall_back;     /* to a lesser method, with a notice, when the engine fails */
	const char *why_lesser; /* why no better engine is used, for the notice; NULL: not said */
	const char *event;      /* "cpu-clock" … */
	uint32_t frequency_hz;  /* 0 with a period */
	bool rate_given;        /* the user chose this frequency; it is not the default */
	bool paused;            /* no samples until a rate is set */
	uint64_t period;        /* events between samples; 0: by frequency */
	uint32_t depth;         /* frames kept of a stack */
	bool kernel;            /* kernel frames too */
	bool untitled; /* processes are not called by their titles: no arguments are read */
	enum engine_unwind unwind;
	enum engine_python python;
	bool holders_only;    /* only threads that hold the global lock of a Python interpreter */
	uint32_t stack_bytes; /* copied of a stack, if it is walked from a copy */
	struct engine_heap heap;
	bool overwrite_old; /* full rings drop their oldest samples, not the newest */
	/* The start of a kernel function and its size (0: unknown). NULL: cannot be looked up. */
	uint64_t (*kernel_address)(void *self, const char *name, uint64_t *ret_bytes);
	void *kernel_self;
	/* The file offset of a function in a file; NULL: cannot be looked up. */
	int (*function_offset)(void *self, const char *path, const char *function,
			       uint64_t *ret_offset, struct error *err);
	void *function_self;
};

/* How much of a ring's fill is remembered from drain to drain. */
#define ENGINE_FILL_FADES 0.9

/* A process whose heap is recorded, for a leak scan. */
struct engine_process {
	pid_t pid;
	bool waits;      /* at its end, until engine_scanned() */
	uint64_t inside; /* address of its struct scan_hints; 0: recorded from outside */
	bool bypasses;   /* has its own malloc(), whose blocks are not recorded */
	bool has_older;  /* has unrecorded blocks, allocated before the recording began */
};

struct engine_ops {
	const char *name;
	const char *summary;
	bool records_wakers; /* can record who ends a sleep; see engine_config */
	bool reads_calls;    /* of interpreters, and who holds their global lock */
	/* 0 when the engine works here, else a negative errno and the reason. */
	int (*probe)(struct error *err);
	int (*open)(const struct engine_config *config, const struct target *target,
		    struct sink *sink, void **ret_self, struct error *err);
	int (*start)(void *self, struct error *err);
	int (*fd)(void *self);
	int (*drain)(void *self, struct error *err);
	uint64_t settle_ns; /* the first drain after it has all events; see engine_settle() */
	int (*stop)(void *self, struct error *err);
	/* Numbers so far; with `final` also those that take a few milliseconds to find. */
	void (*stats)(void *self, bool final, struct engine_stats *ret);
	/* What the kernel did not grant, for a person; "": all was granted. */
	const char *(*notice)(void *self);
	void (*close)(void *self);
	/*
	 * Sets the rate of samples from now on, which changes their weight; 0: none until the next
	 * rate. Mappings and tasks are followed all the time. -EOPNOTSUPP when samples are not
	 * taken by time; pausing works nevertheless.
	 */
	int (*set_rate)(void *self, uint32_t frequency_hz, struct error *err);
	/* Optional: 0 when it can watch such a target, else a negative errno and the reason. */
	int (*suits)(const struct target *target, struct error *err);
	/* Optional: variables to start a command with, NULL last. The engine is opened first. */
	char *const *(*environment)(void *self);
	void (*launched)(void *self, pid_t pid); /* with environment: the command's pid */
	/* Optional: whether a process that connected itself, or a child of one, still runs. */
	bool (*has_members)(void *self);
	/* Optional, the second only where a process waits: see engine_next_process(). */
	bool (*next_process)(void *self, size_t *at, struct engine_process *ret);
	void (*scanned)(void *self, pid_t pid);
	/* Optional, both or none: before this program is stopped (Ctrl-Z), and after. */
	int (*suspend)(void *self, struct error *err);
	int (*resume)(void *self, struct error *err);
	/* Optional: see engine_tidy(). */
	void (*tidy)(void);
};

/* Parts of the paths of what engines map into programs, NULL last. */
extern const char *const engine_own_paths[];

/* All engines in order of preference, NULL last. */
extern const struct engine_ops *const engine_table[];

/*
 * The engine of a name; "auto": the first that works and suits the target (NULL: any).
 * NULL with err set.
 */
const struct engine_ops *engine_find(const char *name, const struct target *target,
				     struct error *err);

/*
 * For engines that sample only time, at a rate: refuses all other options. `event` is the
 * name of their event; that of the default event is accepted too.
 */
int engine_check_time(const struct engine_ops *ops, const struct engine_config *config,
		      const char *event, struct error *err);

/*
 * Opens an engine; with config.may_fall_back a lesser one if that fails, which gives the reason
 * in its notice. The caller releases *ret with engine_close(). Borrows the sink until then. On
 * failure *ret is untouched.
 */
int engine_open(const struct engine_ops *ops, const struct engine_config *config,
		const struct target *target, struct sink *sink, struct engine **ret,
		struct error *err);
void engine_close(struct engine *engine); /* NULL is fine */
/* Removes what an engine left behind for programs that outlived it and have ended now. */
void engine_tidy(const struct engine_ops *ops);
const char *engine_name(const struct engine *engine); /* of the one that was opened */

int engine_start(struct engine *engine, struct error *err);
/* Variables to start a command with; NULL: none. Valid until the engine is closed. */
char *const *engine_environment(struct engine *engine);
void engine_launched(struct engine *engine, pid_t pid);
bool engine_has_members(struct engine *engine); /* with target.joins: whether any still runs */
/*
 * With config.heap.leaks: iterates over the processes whose live blocks are known; *at is 0
 * first. A process that waits continues after engine_scanned().
 */
bool engine_next_process(struct engine *engine, size_t *at, struct engine_process *ret);
void engine_scanned(struct engine *engine, pid_t pid);
int engine_fd(struct engine *engine); /* readable when there is enough to drain */
int engine_drain(struct engine *engine, struct error *err);
/*
 * Waits until a drain would return everything that happened before the call: a few milliseconds at
 * most.
 */
void engine_settle(struct engine *engine);
int engine_stop(struct engine *engine, struct error *err);
/* The rate of samples from now on; 0: none. See engine_ops. */
int engine_set_rate(struct engine *engine, uint32_t frequency_hz, struct error *err);
/* Until engine_resume() the target runs as if it were not watched. */
int engine_suspend(struct engine *engine, struct error *err);
int engine_resume(struct engine *engine, struct error *err);
void engine_progress(struct engine *engine, struct engine_stats *ret); /* cheap, any time */
void engine_stats(struct engine *engine, struct engine_stats *ret); /* complete, after the stop */
const char *engine_notice(struct engine *engine);

#endif
