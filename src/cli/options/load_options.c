/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/load_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "load/filter/stack_filter.h"
#include "load/load.h"
#include "plugin/plugins.h"
#include "recording/reader.h"
#include "view/source_file.h"

const struct option_spec symbol_file_option_table[] = {
	{"symbol-path", 0, OPTION_LIST(struct symbol_file_options, paths), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "symbols.paths",
	 .help = "search this directory for debug files"},
	{"cache", 0, OPTION_TOGGLE(struct symbol_file_options, cache), .key = "symbols.cache",
	 .help = "store symbols on disk, by build ID, and use the stored ones"},
	{"debuginfod", 0, OPTION_TOGGLE(struct symbol_file_options, debuginfod),
	 .key = "symbols.debuginfod",
	 .help = "download missing debug files from the servers in DEBUGINFOD_URLS"},
	{"debuginfod-limit", 0, OPTION_DURATION(struct symbol_file_options, debuginfod_ns),
	 .argument = "TIME", .min = 1e8, .max = 3.6e12, .key = "symbols.debuginfod_limit",
	 .help = "maximum time for all requests to these servers together"},
	OPTION_END,
};

const struct option_spec symbol_option_table[] = {
	{"demangle", 0, OPTION_TOGGLE(struct symbol_options, demangle), .key = "symbols.demangle",
	 .help = "show C++, Rust and D names as in the source"},
	{"symbols", 0, OPTION_ENUM(struct symbol_options, detail, "names", "lines", "inlines"),
	 .key = "symbols.detail",
	 .help = "what to look up: function names only; also source lines; also inlined calls"},
	{OPTION_GROUP(struct symbol_options, files, symbol_file_option_table)},
	OPTION_END,
};

const struct option_spec source_option_table[] = {
	{"source-path", 0, OPTION_LIST(struct source_options, paths), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "symbols.source_paths",
	 .help = "search this directory for source files"},
	{"path-map", 0, OPTION_PAIRS(struct source_options, maps), .argument = "FROM=TO",
	 .key = "symbols.path_maps",
	 .help = "source files that were under FROM when they were compiled are now under TO"},
	OPTION_END,
};

const struct option_spec look_option_table[] = {
	{"event", 0, OPTION_STRING(struct cli_load_options, event), .argument = "EVENT",
	 .help = "use this event or value instead of the main one: another event of the recording "
		 "(record -e A,B), or another value in a perf or pprof file"},
	{"pid", 0, OPTION_NUMBERS(struct cli_load_options, pids), .argument = "PID[,PID...]",
	 .help = "only these processes"},
	{"tid", 0, OPTION_NUMBERS(struct cli_load_options, tids), .argument = "TID[,TID...]",
	 .help = "only these threads"},
	{"comm", 0, OPTION_LIST(struct cli_load_options, comms), .argument = "NAME",
	 .help = "only threads with this name"},
	{"label", 0, OPTION_PAIRS(struct cli_load_options, labels), .argument = "KEY=VALUE",
	 .help = "only samples with this label: part=parse, state=sleeping, or one that a program "
		 "set; if a key is given several times, any of its values matches"},
	{"module", 0, OPTION_LIST(struct cli_load_options, modules), .argument = "NAME",
	 .help = "only stacks that pass through this program or library"},
	{"only", 0, OPTION_LIST(struct cli_load_options, only), .argument = "RE",
	 .help = "only stacks with a function that matches"},
	{"ignore", 0, OPTION_LIST(struct cli_load_options, ignore), .argument = "RE",
	 .help = "leave out stacks with a function that matches"},
	{"alloc-fn", 0, OPTION_LIST(struct cli_load_options, alloc_fns), .argument = "RE",
	 .key = "heap.alloc_fn",
	 .help = "treat functions that match as allocators: the place is then the code that calls "
		 "them (wick heap); malloc, operator new and common wrappers are built in"},
	{"from", 0, OPTION_DURATION(struct cli_load_options, from_ns), .argument = "TIME",
	 .help = "only samples from this time on, counted from the start of the recording"},
	{"to", 0, OPTION_DURATION(struct cli_load_options, to_ns), .argument = "TIME",
	 .help = "only samples before this time"},
	{"inline", 0, OPTION_TOGGLE(struct cli_load_options, inlines), .key = "view.inline",
	 .help = "show inlined functions as separate frames"},
	{"kernel", 0, OPTION_TOGGLE(struct cli_load_options, kernel), .key = "view.kernel",
	 .help = "show kernel frames"},
	{"collapse-recursion", 0, OPTION_TOGGLE(struct cli_load_options, collapse_recursion),
	 .key = "view.collapse_recursion",
	 .help = "show recursive calls of a function as one frame"},
	{"names", 0, OPTION_ENUM(struct cli_load_options, names, "short", "full"),
	 .key = "view.names",
	 .help = "short leaves out arguments of functions and templates; full is the default for "
		 "JSON and CSV, and if a pattern contains arguments"},
	{"short-names", 0, OPTION_TOGGLE(struct cli_load_options, short_names),
	 .key = "view.short_names",
	 .help = "--short-names is --names short, --no-short-names is --names full",
	 .default_help = ""},
	{OPTION_GROUP(struct cli_load_options, symbols, symbol_option_table), .help = "Symbols"},
	OPTION_END,
};

/* Wrong options are reported before any file is read. */
static int check(const struct cli_load_options *look, const struct load_options *load,
		 struct error *err)
{
	struct stack_filter filter;
	int r;

	if (look->from_ns >= look->to_ns) {
		(void)error_set(err, -EINVAL, "--from must be before --to");
		error_remedy(err, "both count from the start of the recording: --from 1s --to 2s");
		return -EINVAL;
	}
	r = stack_filter_init(&filter, load, err);
	if (r == 0)
		stack_filter_fini(&filter);
	return r;
}

void cli_load_set_symbols(const struct command_context *context,
			  const struct symbol_options *symbols, struct debuginfod *server,
			  struct load_options *ret)
{
	ret->symbols = symbols->detail;
	ret->demangle = symbols->demangle;
	ret->symbol_paths = symbols->files.paths.items;
	ret->symbol_path_count = symbols->files.paths.count;
	ret->symbol_cache = symbols->files.cache;
	ret->fetch = NULL;
	if (server && symbols->files.debuginfod) {
		debuginfod_init(server, context, symbols->files.debuginfod_ns);
		ret->fetch = &server->search;
	}
}

void cli_load_note_damage(void *self, const char *path, const struct recording_damage *damage)
{
	uint64_t gone = damage->skipped_bytes + damage->cut_bytes;

	if (damage->complete)
		command_note(self, "%s is damaged: %" PRIu64 " of its bytes cannot be read", path,
			     gone);
	else if (damage->why)
		command_note(self, "%s is incomplete: %.*s", path, (int)strcspn(damage->why, "\n"),
			     damage->why);
	else
		command_note(self,
			     "%s is incomplete: it was truncated, or is still being written; see "
			     "what it contains: wick info %s",
			     path, path);
}

static bool is_configured(const struct command_context *context, const void *member)
{
	return option_source_of(context->set, member) != OPTION_FROM_DEFAULT;
}

static bool ends_with_operator(const char *pattern, const char *end)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	return (size_t)(end - pattern) >= n && strncmp(end - n, word, n) == 0;
}

bool cli_load_pattern_is_full(const char *pattern, bool is_expression)
{
	static const char anonymous[] = "anonymous";
	const char *at = pattern;

	for (; (at = strpbrk(at, "(<")); at++) {
		bool is_escaped = at > pattern && (at[-1] == '\\' || at[-1] == '[');
		const char *before = is_escaped ? at - 1 : at;

		if (ends_with_operator(pattern, before)) {
			at += at[0] == '<' && at[1] == '<';
			continue;
		}
		if (*at == '(' && is_expression && !is_escaped)
			continue;
		if (at[1] != '>' && strncmp(at + 1, anonymous, sizeof(anonymous) - 1) != 0)
			return true;
	}
	return false;
}

static bool have_full(const struct option_list *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (cli_load_pattern_is_full(patterns->items[i], true))
			return true;
	return false;
}

/* The command line takes precedence. Patterns that contain arguments need full names. */
static bool wants_short(const struct command_context *context, const struct cli_load_options *look)
{
	if (option_source_of(context->set, &look->short_names) >
	    option_source_of(context->set, &look->names))
		return look->short_names;
	return look->names == LOOK_NAMES_SHORT &&
	       (is_configured(context, &look->names) ||
		!(have_full(&look->only) || have_full(&look->ignore) ||
		  have_full(&look->alloc_fns)));
}

void cli_load_prefer_full_names(const struct command_context *context,
				const struct cli_load_options *look, struct load_options *load)
{
	if (!is_configured(context, &look->names) && !is_configured(context, &look->short_names))
		load->short_names = false;
}

int cli_load_to_load(const struct command_context *context, const struct cli_load_options *look,
		     struct debuginfod *server, struct load_options *ret)
{
	struct error err = {0};
	int r;

	*ret = (struct load_options){
		.damaged = cli_load_note_damage,
		.damaged_self = (void *)(uintptr_t)context,
		.event = look->event,
		.pids = look->pids.items,
		.pid_count = look->pids.count,
		.tids = look->tids.items,
		.tid_count = look->tids.count,
		.comms = look->comms.items,
		.comm_count = look->comms.count,
		.labels = look->labels.items,
		.label_count = look->labels.count,
		.modules = look->modules.items,
		.module_count = look->modules.count,
		.only = look->only.items,
		.only_count = look->only.count,
		.ignore = look->ignore.items,
		.ignore_count = look->ignore.count,
		.alloc_fns = look->alloc_fns.items,
		.alloc_fn_count = look->alloc_fns.count,
		.from_ns = look->from_ns,
		.to_ns = look->to_ns,
		.inlines = look->inlines,
		.kernel = look->kernel,
		.short_names = wants_short(context, look),
		.importers = plugins_importers(context->plugins),
		.sources = plugins_name_sources(context->plugins),
	};
	cli_load_set_symbols(context, &look->symbols, server, ret);
	r = check(look, ret, &err);
	if (r == 0)
		return COMMAND_DONE;
	return r == -EINVAL ? command_refused(context, &err) : command_failed(context, &err);
}

uint32_t cli_load_row_limit(const struct command_context *context, const uint64_t *limit,
			    bool for_program)
{
	return for_program && option_source_of(context->set, limit) == OPTION_FROM_DEFAULT
		       ? 0
		       : (uint32_t)*limit;
}

static bool is_typed(const struct command_context *context, const void *member)
{
	return option_source_of(context->set, member) == OPTION_FROM_COMMAND_LINE;
}

bool cli_load_asks_source(const struct command_context *context, const bool *source)
{
	return *source && is_typed(context, source);
}

struct source_search cli_load_to_search(const struct command_context *context,
					const struct source_options *sources, bool is_asked)
{
	return (struct source_search){
		.is_asked = is_asked || is_typed(context, &sources->paths) ||
			    is_typed(context, &sources->maps),
		.directories = sources->paths.items,
		.directory_count = sources->paths.count,
		.maps = sources->maps.items,
		.map_count = sources->maps.count,
	};
}

int cli_load_check_output(const struct command_context *context, const char *input,
			  const char *output, const char *option)
{
	struct error err = {0};

	if (!outfile_is_input(output, input))
		return COMMAND_DONE;
	(void)error_set(&err, -EINVAL, "%s is the input file and would be overwritten",
			output[0] == '-' && !output[1] ? "standard output" : output);
	error_remedy(&err, "choose another name with %s", option);
	return command_refused(context, &err);
}
