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
 * Threads: one drives an engine; the sink is called on it, from inside these functions only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/heap_config.h"

struct engine;
struct error;
struct sink;

/* Which time is looked at. */
enum engine_mode {
	ENGINE_MODE_CPU,    /* on the CPUs */
	ENGINE_MODE_WALL,   /* all */
	ENGINE_MODE_OFFCPU, /* asleep, or waiting for a CPU */
};

enum target_kind {
	TARGET_COMMAND,   /* one process that waits for its exec */
	TARGET_PROCESSES, /* all threads of these, new ones included */
	TARGET_THREADS,   /* these alone */
	TARGET_MACHINE,
	TARGET_CGROUP, /* all processes of a control group and those below it */
};

struct target {
	enum target_kind kind;
	const pid_t *ids; /* pids or tids */
	size_t count;
	bool children;       /* follow processes that the target starts */
	const char *cgroup;  /* the folder of a control group */
	const char *program; /* of a command, as it was given; NULL: not known */
	bool joins;          /* processes that have come to the engine by themselves */
};

enum engine_unwind {
	ENGINE_UNWIND_AUTO,  /* what the engine does best */
	ENGINE_UNWIND_FP,    /* by frame pointers */
	ENGINE_UNWIND_DWARF, /* by the tables compiled from CFI */
};

/* The most that can be copied of a stack, and the default: what a sample has room for. */
#define ENGINE_STACK_BYTES 65528u

struct engine_config {
	enum engine_mode mode;
	uint64_t least_away_ns; /* times off a CPU that are shorter are left out */
	double away_budget;     /* share of the target's time for these; 0: any */
	bool wakers;            /* with the stacks of those who woke who was off a CPU */
	bool may_fall_back;     /* to a lesser way, with a notice, when the engine's own fails */
	const char *why_lesser; /* why it is not a better engine, for the notice; NULL: it is */
	const char *event;      /* "cpu-clock" … */
	uint32_t frequency_hz;  /* 0 with a period */
	bool rate_given;        /* the frequency is a wish, not a default */
	bool paused;            /* no samples until a rate is set */
	uint64_t period;        /* events between samples; 0: by frequency */
	uint32_t depth;         /* frames kept of a stack */
	bool kernel;            /* kernel frames too */
	enum engine_unwind unwind;
	uint32_t stack_bytes; /* copied of a stack, where that is how it is walked */
	struct engine_heap heap;
	bool overwrite_old; /* full rings give up their oldest samples, not the newest */
	/* The start of a kernel function and its size (0: unknown). NULL: nobody can tell. */
	uint64_t (*kernel_address)(void *self, const char *name, uint64_t *ret_bytes);
	void *kernel_self;
	/* The file offset of a function in a file; NULL: nobody can tell. */
	int (*function_offset)(void *self, const char *path, const char *function,
			       uint64_t *ret_offset, struct error *err);
	void *function_self;
};

/* How much of a ring's fill is remembered from drain to drain. */
#define ENGINE_FILL_FADES 0.9

/* How many ways a walk by tables can end; the first is the good one, the root. */
#define ENGINE_ENDS 6

/* What an engine knows about itself: the numbers behind the summary. */
struct engine_stats {
	uint64_t samples;
	uint64_t lost;              /* the kernel said so */
	uint64_t expected;          /* by the time that the target ran; 0: not known */
	uint64_t run_ns;            /* CPU time of the target while it was watched */
	uint64_t seen_ns;           /* time that samples stand for so far; 0: they weigh no time */
	uint64_t cost_ns;           /* that they have cost the target so far, by what is known */
	double ring_fill;           /* the largest part of a ring that was full of late */
	uint64_t throttled;         /* times that the kernel held the event back */
	uint64_t truncated;         /* stacks cut at the depth limit */
	uint64_t narrow;            /* samples of 32-bit programs: by frame pointers, no names */
	bool by_fp, tables;         /* what walked stacks: frame pointers, or tables (see ends) */
	uint64_t ends[ENGINE_ENDS]; /* see engine_end_name() */
	uint64_t frames;            /* of all samples */
	uint64_t slices;            /* stacks that the kernel could not walk for lack of a table */

	uint64_t heap_events;       /* allocations and frees */
	uint64_t heap_missed;       /* calls of the allocator among the lost: no samples */
	uint64_t heap_calls;        /* of the allocator, that were looked at from outside */
	uint64_t heap_before_bytes; /* in use when we came, at most; 0: not known, or nothing */
	uint64_t unique_stacks;     /* 0: too many to tell */
	uint32_t frequency_hz;      /* as granted */
	uint32_t depth_limit;       /* as granted */
	bool kernel;                /* as granted */
	uint64_t sample_cost_ns;    /* what one sample costs the target, measured here */
	bool away;                  /* times off the CPUs are among the samples */
	uint64_t away_samples;      /* so many of the samples are */
	uint64_t away_repeated;     /* waits for locks that samples stand for besides themselves */
	uint64_t away_summed;       /* times off a CPU that are in sums, without a stack each */
	uint64_t switches;          /* of the target's threads that were looked at */
	uint64_t switch_cost_ns;    /* what looking at them has cost, apart from cost_ns */
	uint64_t other_switches, other_switch_cost_ns; /* of others, and in pauses */
	uint64_t away_short;   /* times off a CPU that were left out as too short */
	uint64_t away_unkept;  /* times off a CPU that there was no room for */
	uint64_t ring_bytes;   /* of each ring of perf events; 0: there are none */
	uint64_t buffer_bytes; /* of all rings */
	uint64_t kernel_bytes; /* of tables, held in the kernel */
	char remark[900];      /* what else a person should know; "": nothing */
	char why_none[320];    /* why there may be no samples; "": no more is known */
};

/* A process whose heap is recorded, for a leak scan. */
struct engine_process {
	pid_t pid;
	bool waits;      /* at its end, until engine_scanned() */
	uint64_t inside; /* address in it: struct scan_hints; 0: recorded from outside */
	bool bypasses;   /* it has a malloc() of its own: what that gives is not recorded */
	bool has_older;  /* blocks that were allocated before the recording: these are not known */
};

struct engine_ops {
	const char *name;
	const char *summary;
	bool tells_wakers; /* who ends a sleep; see engine_config */
	/* 0 when the engine works here, else a negative errno and why not. */
	int (*probe)(struct error *err);
	/* Optional: 0 when it can watch such a target, else a negative errno and why not. */
	int (*suits)(const struct target *target, struct error *err);
	/* Optional: variables to start a command with, NULL last; it is opened before that. */
	char *const *(*environment)(void *self);
	void (*launched)(void *self, pid_t pid); /* with environment: who the command is */
	/* Optional: whether somebody runs who came by himself, or whom such a one has started. */
	bool (*has_members)(void *self);
	int (*open)(const struct engine_config *config, const struct target *target,
		    struct sink *sink, void **ret_self, struct error *err);
	int (*start)(void *self, struct error *err);
	int (*fd)(void *self);
	int (*drain)(void *self, struct error *err);
	uint64_t settle_ns; /* events come with the first drain after that; see engine_settle() */
	int (*stop)(void *self, struct error *err);
	/* Numbers so far; with `final` also what takes some milliseconds to find out. */
	void (*stats)(void *self, bool final, struct engine_stats *ret);
	/* What the kernel did not grant, for a person; "" when all was. */
	const char *(*notice)(void *self);
	void (*close)(void *self);
	/*
	 * Samples come so often from now on, and weigh accordingly; 0: not at all, until the
	 * next rate. What else there is to follow is followed all the time. -EOPNOTSUPP when
	 * samples do not come by time; pausing works all the same.
	 */
	int (*set_rate)(void *self, uint32_t frequency_hz, struct error *err);
	/* Optional, the second where a process waits: see engine_next_process(). */
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
 * The engine of a name, "auto" for the first that works and suits the target (NULL: any).
 * NULL with err set.
 */
const struct engine_ops *engine_find(const char *name, const struct target *target,
				     struct error *err);

/*
 * For engines that sample nothing but time, at a rate: refuses what else may be asked of
 * one. Their event may be called by its name, or by that of the usual one.
 */
int engine_check_time(const struct engine_ops *ops, const struct engine_config *config,
		      const char *event, struct error *err);

/*
 * Opens an engine; with config.may_fall_back a lesser one where it fails, which gives the reason
 * in its notice. The caller releases *ret with engine_close(). Borrows the sink until then. On
 * failure *ret is untouched.
 */
int engine_open(const struct engine_ops *ops, const struct engine_config *config,
		const struct target *target, struct sink *sink, struct engine **ret,
		struct error *err);
void engine_close(struct engine *engine); /* NULL is fine */
/* Programs that outlived an engine have ended: what it had left for them goes. */
void engine_tidy(const struct engine_ops *ops);
const char *engine_name(const struct engine *engine); /* of the one that was opened */

int engine_start(struct engine *engine, struct error *err);
/* What to start a command with; NULL: nothing. Valid until the engine is closed. */
char *const *engine_environment(struct engine *engine);
void engine_launched(struct engine *engine, pid_t pid);
bool engine_has_members(struct engine *engine); /* with target.joins: who still runs */
/*
 * With config.heap.leaks: the processes whose live blocks are known, one after the other; *at
 * is 0 first. Those that wait go on when they are said to have been scanned.
 */
bool engine_next_process(struct engine *engine, size_t *at, struct engine_process *ret);
void engine_scanned(struct engine *engine, pid_t pid);
int engine_fd(struct engine *engine); /* readable when draining pays */
int engine_drain(struct engine *engine, struct error *err);
/* Waits until a drain brings all that has happened up to now: some milliseconds at most. */
void engine_settle(struct engine *engine);
int engine_stop(struct engine *engine, struct error *err);
/* How often samples come from now on; 0: not at all. See engine_ops. */
int engine_set_rate(struct engine *engine, uint32_t frequency_hz, struct error *err);
/* The target goes on as if nobody watched it, until it is watched again. */
int engine_suspend(struct engine *engine, struct error *err);
int engine_resume(struct engine *engine, struct error *err);
void engine_progress(struct engine *engine, struct engine_stats *ret); /* cheap, any time */
void engine_stats(struct engine *engine, struct engine_stats *ret); /* complete, after the stop */
const char *engine_notice(struct engine *engine);

/* What stats.ends[i] counts: "root", "depth limit" … */
const char *engine_end_name(size_t i);

#endif
