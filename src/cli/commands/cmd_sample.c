/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/text/sample.h"
#include "engine/ptrace/sampler.h"
#include "live/live_names.h"
#include "live/live_stacks.h"
#include "load/names/kernel_addresses.h"
#include "proc/kernel_stack.h"
#include "proc/process_info.h"
#include "symbol/kernel_symbols.h"

#define PID_MAX 4194304u
#define INTERVAL_MS 100u
#define INTERVAL_MAX_MS 3600000u

enum unwind_way { UNWIND_WAY_AUTO, UNWIND_WAY_FP };

struct sample_options {
	uint64_t count;
	uint64_t duration_ns;
	uint64_t depth;
	enum unwind_way unwind;
	bool threads;
	bool verbose;
	bool kernel;
	enum engine_python python;
};

struct printer {
	const struct command_context *context;
	const struct sample_options *options;
	struct live_stacks_config stacks;
	struct live_names *names;        /* NULL: addresses only */
	struct kernel_addresses *kernel; /* NULL: no kernel frames */
};

static void put_beginning(void *self, struct bytes *out)
{
	const struct printer *printer = self;

	bytes_printf(out,
		     "Attached to process %d, sampling every %llu ms\nPress Ctrl+C to stop\n\n",
		     (int)printer->stacks.pid, printer->stacks.interval_ns / NS_PER_MS);
}

/* Prints "  function+0x12 (module) file.c:34", as far as these are known. */
static void put_name(struct printer *printer, uint64_t address, bool is_caller, struct bytes *out)
{
	struct live_name name = live_names_find(printer->names, address, is_caller);

	if (name.function) {
		bytes_printf(out, "  ");
		text_put_terminal(out, name.function);
		bytes_printf(out, "+0x%" PRIx64, name.offset);
	} else {
		bytes_printf(out, "  [unknown]");
	}
	if (name.module) {
		bytes_printf(out, " (");
		text_put_terminal(out, name.module);
		bytes_printf(out, ")");
	}
	if (name.file) {
		bytes_printf(out, " ");
		text_put_terminal(out, name.file);
		bytes_printf(out, ":%" PRIu32, name.line);
	}
}

static void put_kernel_name(struct printer *printer, uint64_t address, struct bytes *out)
{
	const struct kernel_symbols *symbols = kernel_addresses_symbols(printer->kernel);
	struct kernel_symbol symbol;

	/* The address was computed from a symbol of this table. */
	if (symbols && kernel_symbols_find(symbols, address - 1, &symbol))
		bytes_printf(out, "  %s+0x%" PRIx64 " ([%s])", symbol.name, address - symbol.start,
			     symbol.module[0] ? symbol.module : "kernel");
}

/* Prints "  0xaddress  function (file.py:34)", with the address of the function's code object. */
static void put_call(const struct sampler_call *call, struct bytes *out)
{
	bytes_printf(out, "  0x%" PRIx64 "  ", call->code);
	text_put_terminal(out, call->function ? call->function : "[unknown]");
	if (call->file) {
		bytes_printf(out, " (");
		text_put_terminal(out, call->file);
		if (call->line > 0)
			bytes_printf(out, ":%" PRIu32, call->line);
		bytes_printf(out, ")");
	}
	bytes_printf(out, "\n");
}

static void put_frame(struct printer *printer, const struct stack_sample *sample, uint32_t i,
		      struct bytes *out)
{
	struct sampler_call call;

	if (sampler_call(sample, i, &call)) {
		put_call(&call, out);
		return;
	}
	bytes_printf(out, "  0x%" PRIx64, sample->pcs[i]);
	if (printer->names)
		put_name(printer, sample->pcs[i], i > 0, out);
	bytes_printf(out, "\n");
}

static void put_stack(void *self, uint64_t round, const struct stack_sample *sample,
		      struct bytes *out)
{
	struct printer *printer = self;

	bytes_printf(out, "--- sample %" PRIu64, round);
	if (printer->options->threads) {
		char comm[PROCESS_COMM_MAX] = "?";

		/* The thread may have ended since. */
		(void)process_thread_comm(sample->pid, sample->tid, comm, sizeof(comm));
		bytes_printf(out, " thread %d (", (int)sample->tid);
		text_put_terminal(out, comm);
		bytes_printf(out, ")");
	}
	bytes_printf(out, " ---\n");
	for (uint32_t i = 0; i < sample->kernel_count; i++) {
		bytes_printf(out, "  0x%" PRIx64, sample->kernel_pcs[i]);
		if (printer->names)
			put_kernel_name(printer, sample->kernel_pcs[i], out);
		bytes_printf(out, "\n");
	}
	for (uint32_t i = 0; i < sample->count; i++)
		put_frame(printer, sample, i, out);
}

static void forget_names(void *self)
{
	struct printer *printer = self;

	if (printer->names)
		live_names_forget(printer->names);
}

static void print_end(const struct printer *printer, const struct live_stacks_result *result)
{
	FILE *err = printer->context->err;

	if (result->ended)
		command_note(printer->context, "process %d has ended", (int)printer->stacks.pid);
	if (printer->options->verbose && result->times.count == 1)
		(void)fprintf(err, "wick: stopped the thread once, for %llu us\n",
			      result->times.longest_ns / NS_PER_US);
	else if (printer->options->verbose && result->times.count > 0)
		(void)fprintf(err,
			      "wick: %llu stops: half of them took at most %llu us, 99 %% at "
			      "most %llu us, the longest took %llu us\n",
			      (unsigned long long)result->times.count,
			      stop_times_quantile_ns(&result->times, 0.5) / NS_PER_US,
			      stop_times_quantile_ns(&result->times, 0.99) / NS_PER_US,
			      result->times.longest_ns / NS_PER_US);
}

/* Prepares to read kernel frames. */
static int prepare_kernel(struct printer *printer, struct error *err)
{
	int r = kernel_stack_probe();

	if (r < 0) {
		(void)error_errno(err, r, "cannot read the kernel stacks");
		error_remedy(err, "run as root, or remove --kernel");
		return r;
	}
	printer->kernel = kernel_addresses_new();
	if (!printer->kernel)
		return error_set(err, -ENOMEM, "out of memory");
	r = kernel_addresses_read(printer->kernel, err);
	printer->stacks.kernel_address = kernel_addresses_find;
	printer->stacks.kernel_self = printer->kernel;
	return r;
}

static int sample(struct printer *printer)
{
	struct live_stacks_result result;
	struct error err = {0};
	int r = 0;

	if (printer->options->kernel)
		r = prepare_kernel(printer, &err);
	if (r == 0 && printer->options->verbose)
		r = live_names_new(printer->stacks.pid, &printer->names, &err);
	if (r == 0)
		r = live_stacks_run(&printer->stacks, &result, &err);
	if (r == 0)
		print_end(printer, &result);
	live_names_free(printer->names);
	kernel_addresses_free(printer->kernel);
	return r < 0 ? command_failed(printer->context, &err) : COMMAND_DONE;
}

/* Parses a number from 1 to max. */
static bool parse(const char *text, uint64_t max, uint64_t *ret)
{
	return number_parse_u64(text, ret) == 0 && *ret >= 1 && *ret <= max;
}

static int run_sample(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct sample_options *options = values;
	struct printer printer = {.context = context, .options = options};
	uint64_t pid;
	uint64_t interval_ms = INTERVAL_MS;

	if (!parse(argv[0], PID_MAX, &pid))
		return command_misused(
			context, "%s is not a process ID; usage: wick sample PID [INTERVAL_MS]",
			argv[0]);
	if (argc > 1 && !parse(argv[1], INTERVAL_MAX_MS, &interval_ms))
		return command_misused(context,
				       "%s is not an interval from 1 to %u ms; usage: wick sample "
				       "PID [INTERVAL_MS]",
				       argv[1], INTERVAL_MAX_MS);
	printer.stacks = (struct live_stacks_config){
		.pid = (pid_t)pid,
		.interval_ns = interval_ms * NS_PER_MS,
		.count = options->count,
		.duration_ns = options->duration_ns,
		.depth = (uint32_t)options->depth,
		.threads = options->threads,
		.frame_pointers = options->unwind == UNWIND_WAY_FP,
		.python = options->verbose ? options->python : ENGINE_PYTHON_OFF,
		.attached = put_beginning,
		.taken = put_stack,
		.remapped = forget_names,
		.out_fd = fileno(context->out),
		.self = &printer,
	};
	return sample(&printer);
}

static const struct option_spec table[] = {
	{"count", 'n', OPTION_U64(struct sample_options, count), .argument = "N", .min = 1,
	 .max = 1e15, .help = "stop after this many samples"},
	{"duration", 'd', OPTION_DURATION(struct sample_options, duration_ns), .argument = "TIME",
	 .min = NS_PER_MS, .help = "stop after this time"},
	{"threads", 0, OPTION_FLAG(struct sample_options, threads),
	 .help = "sample all threads, not only the main thread"},
	{"verbose", 'v', OPTION_FLAG(struct sample_options, verbose),
	 .help = "show function, module and line of each address"},
	{"unwind", 0, OPTION_ENUM(struct sample_options, unwind, "auto", "fp"),
	 .help = "how to find callers: with unwind tables (auto), or with frame pointers only "
		 "(fp)"},
	{"kernel", 0, OPTION_TOGGLE(struct sample_options, kernel),
	 .help = "also show where sleeping threads are in the kernel (needs root)"},
	{"python", 0, OPTION_ENUM(struct sample_options, python, "auto", "off", "only"),
	 .help = "with -v, how to show Python code: auto: Python calls among native frames; only: "
		 "Python calls without native frames; off: the functions of the interpreter"},
	{"depth", 0, OPTION_U64(struct sample_options, depth), .argument = "N", .min = 1,
	 .max = 65536, .help = "how many addresses of a stack to show"},
	OPTION_END,
};

const struct command command_sample = {
	.name = "sample",
	.program = "sampler",
	.summary = "print raw stacks of a running process as they are taken",
	.synopsis = "[OPTIONS] PID [INTERVAL_MS]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct sample_options),
	.defaults = &(const struct sample_options){.depth = 512},
	.min_arguments = 1,
	.max_arguments = 2,
	.argument_help = "PID: the process; INTERVAL_MS: milliseconds between samples",
	.argument_offer = OPTION_OFFER_PID,
	.run = run_sample,
};
