/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/record_summary.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "cli/commands/parts/record_output.h"
#include "engine/signal/preload_path.h"
#include "load/load.h"
#include "model/profile.h"
#include "record/record.h"

/* Below this share of the expected samples the rate was not reached. */
#define RATE_REACHED 0.9

/* Names are looked up for at most this many samples, to limit memory. */
#define NAMED_SAMPLES 50000u

static bool is_stdout(const struct record_config *config)
{
	return outfile_is_stdout(config->output);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* What sampling and handling context switches cost the target. */
static uint64_t record_cost_ns(const struct engine_stats *stats)
{
	return (stats->samples.count - stats->offcpu.samples) * stats->cost.sample_ns +
	       stats->cost.switch_ns;
}

/* Missed allocator calls are not samples: a remark gives their number and reason. */
static uint64_t lost_samples(const struct engine_stats *stats)
{
	return stats->samples.lost - stats->heap.missed;
}

static void print_samples(FILE *out, const struct engine_stats *stats)
{
	(void)fprintf(out, "  samples    %" PRIu64, stats->samples.count + stats->offcpu.repeated);
	if (stats->samples.expected > 0)
		(void)fprintf(out, " of %" PRIu64 " expected (%.1f %%)", stats->samples.expected,
			      percent(stats->samples.count, stats->samples.expected));
	(void)fprintf(out, ", %" PRIu64 " lost (%.2f %%)\n", lost_samples(stats),
		      percent(lost_samples(stats), stats->samples.count + lost_samples(stats)));
	if (stats->run_ns == 0 || stats->offcpu.on)
		return; /* off-CPU time has no rate */
	(void)fprintf(out, "  rate       %.0f Hz achieved, ",
		      (double)stats->samples.count / ((double)stats->run_ns / NS_PER_SEC));
	if (stats->granted.frequency_hz > 0) /* not with a period */
		(void)fprintf(out, "%u Hz requested, ", stats->granted.frequency_hz);
	(void)fprintf(out, "over %.2f s of CPU time\n", (double)stats->run_ns / NS_PER_SEC);
}

/* Prints why less was sampled than requested. */
static void print_pace(FILE *out, const struct record_config *config,
		       const struct record_result *result)
{
	if (result->lowest_hz > 0)
		(void)fprintf(out,
			      "  budget     the rate dropped to %u Hz to keep the cost below %.1f "
			      "%%; raise the limit with --overhead\n",
			      result->lowest_hz, 100 * config->pace.budget);
	if (result->paused_ns > 0)
		(void)fprintf(out, "  paused     for %.2f s\n",
			      (double)result->paused_ns / NS_PER_SEC);
	if (result->rate_failures > 0)
		(void)fprintf(out, "  rate       could not be changed %u times\n",
			      result->rate_failures);
}

/* Prints how unwinding with tables ended. */
static void print_ends(FILE *out, const struct engine_stats *stats)
{
	uint64_t walks = 0;
	size_t i;

	for (i = 0; i < ENGINE_ENDS; i++)
		walks += stats->stacks.ends[i];
	if (walks == 0)
		return;
	(void)fprintf(out, "  unwinding  %.2f %% reached the root",
		      percent(stats->stacks.ends[0], walks));
	for (i = 1; i < ENGINE_ENDS; i++)
		if (stats->stacks.ends[i] > 0)
			(void)fprintf(out, ", %s %.2f %%", engine_end_name(i),
				      percent(stats->stacks.ends[i], walks));
	if (stats->stacks.slices > 0)
		(void)fprintf(out, "; %.1f %% of stacks walked outside the kernel",
			      percent(stats->stacks.slices, walks));
	(void)fputc('\n', out);
}

/* Prints which off-CPU times are not in the recording, or not one by one. */
static void print_left_out(FILE *out, const struct engine_stats *stats)
{
	if (stats->offcpu.too_short > 0)
		(void)fprintf(out,
			      "  left out   %" PRIu64
			      " waits off the CPU were shorter than --min-block\n",
			      stats->offcpu.too_short);
	if (stats->offcpu.summed > 0)
		(void)fprintf(out,
			      "  summed     %" PRIu64
			      " waits off the CPU were too frequent to record a stack for each: "
			      "wick added them up by place; --overhead off records each\n",
			      stats->offcpu.summed);
	if (stats->offcpu.unkept > 0)
		(void)fprintf(out,
			      "wick: %" PRIu64 " waits off the CPU are missing: too many threads "
			      "to track; record fewer threads, with -p or --cgroup\n",
			      stats->offcpu.unkept);
}

/* The number of stacks that do not reach their root, for whatever reason. */
static uint64_t cut_stacks(const struct engine_stats *stats, const struct profile *known)
{
	uint64_t cut = stats->stacks.truncated;
	uint64_t ends = 0;

	for (size_t i = 1; i < ENGINE_ENDS; i++)
		ends += stats->stacks.ends[i];
	if (stats->stacks.by_tables && ends > cut)
		cut = ends;
	/* With frame pointers, the name of the last function shows whether a stack is truncated. */
	if (known && known->quality.samples > 0)
		cut = (uint64_t)((double)stats->samples.count * (double)known->quality.truncated /
				 (double)known->quality.samples);
	return cut;
}

static void print_stacks(FILE *out, const struct engine_stats *stats, uint32_t asked_depth,
			 const struct profile *known)
{
	if (stats->samples.count == 0)
		return;
	(void)fprintf(out, "  stacks     %.1f frames on average, ",
		      (double)stats->stacks.frames / (double)stats->samples.count);
	if (stats->stacks.unique > 0)
		(void)fprintf(out, "%" PRIu64 " unique, ", stats->stacks.unique);
	(void)fprintf(out, "%.1f %% truncated\n",
		      percent(cut_stacks(stats, known), stats->samples.count));
	if (stats->stacks.by_tables)
		print_ends(out, stats);
	if (stats->stacks.by_fp && percent(cut_stacks(stats, known), stats->samples.count) > 1)
		(void)fputs("             code without frame pointers truncates them; remove "
			    "--unwind fp\n",
			    out);
	if (stats->stacks.truncated > 0 && stats->granted.depth_limit < asked_depth)
		(void)fprintf(out,
			      "             the kernel truncates stacks at %u frames; raise the "
			      "limit: sudo sysctl kernel.perf_event_max_stack=512\n",
			      stats->granted.depth_limit);
	else if (stats->stacks.truncated > 0 && !stats->stacks.by_tables)
		(void)fprintf(out,
			      "             truncated at %u frames; raise the limit with --depth\n",
			      stats->granted.depth_limit);
}

/* The label of the line: the language in lower case, if there is only one. */
static void python_label(const char *languages, char *ret, size_t size)
{
	size_t i;

	(void)snprintf(ret, size, "%s", strchr(languages, ' ') ? "calls" : languages);
	for (i = 0; ret[i] != '\0'; i++)
		ret[i] = (char)tolower((unsigned char)ret[i]);
}

/* Prints how many samples have calls of interpreted functions, and why others have none. */
static void print_python(FILE *out, const struct engine_stats *stats)
{
	const struct engine_python_stats *python = &stats->python;
	uint64_t failed = python->torn + python->unnamed;
	char label[sizeof(python->languages)];

	python_label(python->languages, label, sizeof(label));
	if (python->processes > 0 && stats->samples.count > 0) {
		(void)fprintf(out, "  %-10s %.1f %% of samples have %s calls", label,
			      percent(python->samples, stats->samples.count), python->languages);
		if (failed > 0)
			(void)fprintf(out, ", in %.2f %% they could not be read",
				      percent(failed, stats->samples.count));
		if (python->early > 0)
			(void)fprintf(out,
				      ", %" PRIu64 " were taken before the interpreter was found",
				      python->early);
		(void)fputc('\n', out);
	}
	if (python->others > 0)
		(void)fprintf(out,
			      "  python     %" PRIu64
			      " samples of threads without the GIL were left "
			      "out\n",
			      python->others);
	record_output_refused_python(out, stats);
}

/* How long it took to take the first NAMED_SAMPLES samples. */
static uint64_t named_ns(const struct record_result *result)
{
	if (result->stats.samples.count <= NAMED_SAMPLES)
		return UINT64_MAX;
	return (uint64_t)((double)result->duration_ns * NAMED_SAMPLES /
			  (double)result->stats.samples.count);
}

/* Reads the file again, to show now whether names will be found. NULL if it cannot be read. */
static struct profile *load_names(const struct record_config *config,
				  const struct record_result *result,
				  const struct load_options *names)
{
	struct load_options first = *names;
	struct profile *profile;
	struct stat status;

	(void)malloc_trim(0); /* what the recorder has freed lies between what stays */
	first.to_ns = named_ns(result);
	if (is_stdout(config) || stat(config->output, &status) < 0 || !S_ISREG(status.st_mode) ||
	    load_profile(config->output, &first, &profile, NULL) < 0)
		return NULL;
	return profile;
}

static void print_names(FILE *out, const struct profile *known, uint64_t to_ns)
{
	const struct profile_quality *quality = known ? &known->quality : NULL;

	if (!quality || quality->samples == 0)
		return;
	(void)fprintf(out,
		      "  names      %.1f %% of samples with function and line, %.1f %% with a "
		      "name only, %.1f %% unknown",
		      percent(quality->resolved, quality->samples),
		      percent(quality->name_only, quality->samples),
		      percent(quality->unsymbolised, quality->samples));
	if (to_ns != UINT64_MAX)
		(void)fprintf(out, ", in the first %.1f s", (double)to_ns / NS_PER_SEC);
	(void)fputc('\n', out);
}

/* Prints the cost of one sample and of one context switch. */
static void print_prices(FILE *out, const struct engine_stats *stats)
{
	bool both = stats->cost.sample_ns > 0 && stats->cost.switch_ns > 0;

	(void)fputs(" (", out);
	if (stats->cost.sample_ns > 0)
		(void)fprintf(out, "%.1f us per sample%s", (double)stats->cost.sample_ns / 1e3,
			      both ? ", " : "");
	if (stats->cost.switch_ns > 0 && stats->offcpu.switches > 0)
		(void)fprintf(out, "%.2f us for each of %" PRIu64 " context switches",
			      (double)stats->cost.switch_ns / 1e3 / (double)stats->offcpu.switches,
			      stats->offcpu.switches);
	(void)fputc(')', out);
}

/* The engine sees the context switches of all processes, to find those of the target. */
static void print_others(FILE *out, const struct record_result *result)
{
	const struct engine_stats *stats = &result->stats;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (stats->offcpu.other_switches == 0 || stats->cost.other_switch_ns == 0 || cpus <= 0)
		return;
	(void)fprintf(out,
		      "             %.3f %% of the machine's time to check %" PRIu64
		      " other context switches\n",
		      percent(stats->cost.other_switch_ns, result->duration_ns * (uint64_t)cpus),
		      stats->offcpu.other_switches);
}

static void print_overhead(FILE *out, const struct record_result *result)
{
	const struct engine_stats *stats = &result->stats;
	uint64_t cost_ns = record_cost_ns(stats);

	if (stats->run_ns == 0)
		return;
	if (cost_ns > 0) {
		(void)fprintf(
			out, "  overhead   %.2f %% of the target's CPU time",
			percent(cost_ns, stats->run_ns - (cost_ns < stats->run_ns ? cost_ns : 0)));
		print_prices(out, stats);
	} else {
		(void)fprintf(out, "  overhead   not measurable in the target");
	}
	(void)fprintf(out, "; recorder %.2f s CPU, %.1f MB\n",
		      (double)result->own_cpu_ns / NS_PER_SEC, (double)result->own_rss_bytes / 1e6);
	print_others(out, result);
}

/* Why the recording is empty. */
static const char *why_empty(const struct record_result *result)
{
	if (result->target_stopped)
		return "the target is stopped; continue it with: kill -CONT PID";
	if (result->stats.why_none[0])
		return result->stats.why_none;
	if (result->stats.python.others > 0)
		return "no thread was seen with Python's global lock; record without --gil";
	if (result->stats.run_ns > 0 && !result->stats.granted.kernel)
		return "the target spent its time in the kernel, or is a set-user-id program; only "
		       "root may sample these here: run as root";
	if (result->stats.run_ns > 0)
		return "the target always ran for less than one sampling period; raise -F, or see "
		       "what it waits for with --mode wall";
	return "the target did nothing that could be sampled during the recording";
}

/* Prints why many samples are missing, if so. */
static void print_missing(FILE *out, const struct engine_stats *stats)
{
	uint64_t lost = lost_samples(stats);

	if (stats->samples.throttled > 0) {
		(void)fprintf(out,
			      "wick: the kernel throttled sampling %" PRIu64
			      " times; the weights of samples were corrected; raise the limit: "
			      "sudo sysctl kernel.perf_event_max_sample_rate=100000\n",
			      stats->samples.throttled);
	} else if (stats->samples.expected > 100 && stats->samples.count > 0 &&
		   (double)(stats->samples.count + lost) <
			   RATE_REACHED * (double)stats->samples.expected) {
		(void)fprintf(out,
			      "wick: only %.0f %% of the expected samples were taken: code that "
			      "runs for less than one sampling period is missed (raise -F to see "
			      "more of it), or timers fired late\n",
			      percent(stats->samples.count, stats->samples.expected));
	}
	if (lost == 0 || percent(lost, stats->samples.count) <= 1)
		return;
	(void)fprintf(out, "wick: samples were lost because the buffer was full; %s",
		      stats->offcpu.on ? "record fewer processes" : "lower -F");
	if (stats->memory.ring_bytes > 0) /* the kernel limits the buffers of perf events */
		(void)fprintf(
			out,
			", or enlarge the buffer: sudo sysctl kernel.perf_event_mlock_kb=%" PRIu64,
			(stats->memory.ring_bytes >> 10) * 4);
	(void)fputc('\n', out);
}

/*
 * Whether the user may run but not read the program: the kernel hides everything about such a
 * process, and removes perf events from it.
 */
static bool is_hidden(const struct record_config *config, char *ret_path, size_t size)
{
	return config->command && config->command[0] &&
	       preload_find_program(config->command[0], ret_path, size) &&
	       access(ret_path, X_OK) == 0 && access(ret_path, R_OK) < 0 && errno == EACCES;
}

static bool print_hidden(FILE *out, const struct record_config *config,
			 const struct record_result *result)
{
	char path[PATH_MAX];

	if (!is_hidden(config, path, sizeof(path)))
		return false;
	(void)fprintf(out, "wick: %s: ",
		      result->stats.samples.count == 0 ? "no samples" : "no names and no callers");
	record_output_name(out, path);
	(void)fputs(" is executable but not readable for you, and the kernel hides such programs; "
		    "make it readable with chmod +r, or run as root\n",
		    out);
	return true;
}

static void print_advice(FILE *out, const struct record_config *config,
			 const struct record_result *result)
{
	const struct engine_stats *stats = &result->stats;
	/* All waiting threads are in the scheduler, so functions say little. */
	bool waits = config->sampling.mode != ENGINE_MODE_CPU;

	if (stats->samples.count == 0 && result->killed_by > 0)
		record_output_killed(out, "wick: no samples", result);
	else if (!print_hidden(out, config, result) && stats->samples.count == 0)
		(void)fprintf(out, "wick: no samples: %s\n", why_empty(result));
	print_missing(out, stats);
	if (stats->stacks.narrow > 0)
		(void)fprintf(out,
			      "wick: %.0f %% of the samples are from 32-bit programs: their stacks "
			      "use frame pointers only, and their functions have no names\n",
			      percent(stats->stacks.narrow, stats->samples.count));
	if (!is_stdout(config) && stats->samples.count > 0) {
		struct bytes name = {0};

		text_put_shell(&name, config->output);
		if (!name.failed)
			(void)fprintf(out, "next: wick report %s%.*s   or   wick flame %.*s\n",
				      waits ? "--by state " : "", (int)name.size,
				      (const char *)name.data, (int)name.size,
				      (const char *)name.data);
		bytes_fini(&name);
	}
}

void record_summary_print(FILE *out, const struct record_config *config,
			  const struct record_result *result, const struct load_options *names)
{
	struct profile *known = load_names(config, result, names);

	record_output_heading(out, "", config, result);
	print_samples(out, &result->stats);
	print_pace(out, config, result);
	print_stacks(out, &result->stats, config->sampling.depth,
		     result->stats.stacks.by_fp ? known : NULL);
	print_python(out, &result->stats);
	print_left_out(out, &result->stats);
	print_names(out, known, named_ns(result));
	profile_free(known);
	if (result->stats.heap.events > 0)
		(void)fprintf(out,
			      "  heap       %" PRIu64
			      " allocations and frees; to see them: wick report --by site\n",
			      result->stats.heap.events);
	print_overhead(out, result);
	record_output_remark(out, &result->stats);
	print_advice(out, config, result);
}
