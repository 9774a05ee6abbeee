/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/attach_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cli/command.h"
#include "proc/process_info.h"
#include "proc/process_tree.h"

/* How long to watch which processes run. */
#define LOOK_NS (50 * NS_PER_MS)
/* A process sleeps if it runs for less than this share of the time of its descendants. */
#define SLEEPS 0.01

bool attach_is_asked(const struct attach_options *options)
{
	return options->pids.count > 0 || options->names.count > 0;
}

static bool is_tree_given(const struct command_context *context,
			  const struct attach_options *options)
{
	return option_source_of(context->set, &options->tree) != OPTION_FROM_DEFAULT;
}

const char *attach_conflict(const struct command_context *context,
			    const struct attach_options *options)
{
	if (is_tree_given(context, options) && !attach_is_asked(options))
		return "--tree needs running processes: give -p PID or --name NAME";
	for (size_t i = 0; i < options->names.count; i++)
		if (!options->names.items[i][0])
			return "--name needs the name of a process; ps -e lists running processes";
	return NULL;
}

/* Writes how long each process has run to ret[0], ret[1] … */
static void note_run(const struct pid_list *list, uint64_t *ret)
{
	for (size_t i = 0; i < list->count; i++)
		ret[i] = process_tree_run_ns(list->items[i]);
}

/* What processes have done since; those that ended, or had a thread end, are left out. */
struct activity {
	uint64_t run_ns;
	size_t running; /* processes that were on a CPU */
};

static struct activity activity_since(const struct pid_list *list, const uint64_t *before)
{
	struct activity sum = {0};

	for (size_t i = 0; i < list->count; i++) {
		uint64_t now_ns = process_tree_run_ns(list->items[i]);

		if (now_ns <= before[i])
			continue;
		sum.run_ns += now_ns - before[i];
		sum.running++;
	}
	return sum;
}

/*
 * Watches for a while which processes run. Returns whether the roots sleep while their descendants
 * run; *ret is how many of these run.
 */
static bool sleep_while_others_run(const struct pid_list *roots, const struct pid_list *below,
				   size_t *ret)
{
	SCOPED(mem) uint64_t *before = calloc(roots->count + below->count, sizeof(*before));
	struct timespec pause = {.tv_nsec = LOOK_NS};
	struct activity others;

	*ret = 0;
	if (!before)
		return false;
	note_run(roots, before);
	note_run(below, before + roots->count);
	(void)nanosleep(&pause, NULL); /* a shorter pause does no harm */
	others = activity_since(below, before + roots->count);
	*ret = others.running;
	return others.run_ns > 0 &&
	       (double)activity_since(roots, before).run_ns < SLEEPS * (double)others.run_ns;
}

/* Prints whether descendants are included, or that they can be. */
static void print_below(const struct command_context *context, const struct pid_list *roots,
			size_t below, size_t running, bool is_wanted)
{
	static const char *const uses[2][2] = {
		{"of its child processes use CPU time", "of its child processes uses CPU time"},
		{"of their child processes use CPU time", "of their child processes uses CPU time"},
	};
	const char *use = uses[roots->count > 1][running == 1];

	if (is_wanted && roots->count > 1)
		command_note(context,
			     "the %zu processes sleep while %zu %s: child processes are included; "
			     "--no-tree leaves them out",
			     roots->count, running, use);
	else if (is_wanted)
		command_note(context,
			     "process %d sleeps while %zu %s: child processes are included; "
			     "--no-tree leaves them out",
			     (int)roots->items[0], running, use);
	else if (running > 0)
		command_note(context, "%zu %s; add --tree to include child processes", running,
			     use);
	else
		command_note(
			context,
			"%s %zu child process%s, asleep now; add --tree to include child processes",
			roots->count > 1 ? "the processes have" : "the process has", below,
			below == 1 ? "" : "es");
}

static int add_tree(const struct command_context *context, const struct attach_options *options,
		    struct pid_list *ret, struct error *err)
{
	struct pid_list below = {0};
	bool is_wanted = options->tree;
	int r = process_tree_below(ret, &below, err);

	if (r == 0 && below.count > 0 && !is_tree_given(context, options)) {
		size_t running;

		is_wanted = sleep_while_others_run(ret, &below, &running);
		print_below(context, ret, below.count, running, is_wanted);
	}
	for (size_t i = 0; i < below.count && is_wanted && r == 0; i++)
		if (vec_push(ret, below.items[i]) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	vec_fini(&below);
	return r;
}

static int add_named(const char *name, struct pid_list *ret, struct error *err)
{
	size_t before = ret->count;
	int r = process_tree_named(name, ret, err);

	if (r < 0 || ret->count > before)
		return r;
	(void)error_set(err, -ESRCH, "no process is named %s", name);
	error_remedy(err, "ps -e lists the names of running processes; to give a PID, use -p");
	return -ESRCH;
}

int attach_find(const struct command_context *context, const struct attach_options *options,
		bool children, struct pid_list *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < options->pids.count && r == 0; i++)
		if (vec_push(ret, (pid_t)options->pids.items[i]) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < options->names.count && r == 0; i++)
		r = add_named(options->names.items[i], ret, err);
	if (r == 0 && ret->count > 0 && (children || options->tree))
		r = add_tree(context, options, ret, err);
	return r;
}

const struct option_spec attach_option_table[] = {
	{"pid", 'p', OPTION_NUMBERS(struct attach_options, pids), .argument = "PID[,PID...]",
	 .min = 1, .max = INT32_MAX, .offer = OPTION_OFFER_PID,
	 .help = "attach to these processes and all their threads"},
	{"name", 0, OPTION_LIST(struct attach_options, names), .argument = "NAME",
	 .help = "attach to all processes with this name, or that run a file with this name"},
	{"tree", 0, OPTION_TOGGLE(struct attach_options, tree),
	 .help = "with -p or --name: also attach to processes that these have already started",
	 .default_help = "only if the process sleeps while its child processes run"},
	OPTION_END,
};
