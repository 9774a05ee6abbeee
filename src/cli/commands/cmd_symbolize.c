/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/parts/symbolize_print.h"
#include "cli/debuginfod.h"
#include "cli/options/load_options.h"
#include "cli/text/symbolize.h"
#include "load/names/resolver.h"
#include "load/names/resolver_batch.h"
#include "plugin/plugins.h"
#include "proc/process_info.h"

#define INPUT_BYTES (128u << 10)
#define PIPE_BYTES (1u << 20)
/* No address is longer than this; the rest of a longer line is ignored. */
#define MAX_WORD 256
/* How many addresses are looked up together: more than one read returns; JSON is long. */
#define BATCH_TEXT 16384
#define BATCH_JSON 2048

struct symbolize_options {
	const char *path;
	uint64_t pid;
	const char *section;
	struct symbolize_form form;
	bool demangle;
	struct symbol_file_options files;
	bool verbose;
};

struct session {
	const struct command_context *context;
	struct symbolize_printer printer;
	VEC(uint64_t) asked; /* not answered yet */
	size_t first_slice;  /* of the answers to them */
	char word[MAX_WORD]; /* a line of input so far */
	size_t word_size;
	uint64_t line;
	uint64_t counts[SYMBOL_INVALID + 1]; /* by quality */
	uint64_t bad;
};

/* Hexadecimal with or without 0x, as addr2line reads it. */
static bool parse_address(const char *text, const char *end, uint64_t *ret)
{
	const char *start;
	uint64_t value = 0;

	if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (start = text; text < end; text++) {
		unsigned int digit = number_hex_digit(*text);

		if (digit > 15 || value >> 60)
			return false;
		value = value << 4 | digit;
	}
	*ret = value;
	return text > start;
}

static int flush(struct session *session)
{
	FILE *out = session->context->out;
	struct error err = {0};
	int r = fflush(out) == 0 ? iov_output_write(&session->printer.gather, fileno(out)) : -errno;

	if (r == 0)
		return COMMAND_DONE;
	if (r == -ENOMEM)
		(void)error_set(&err, r, "out of memory");
	else
		(void)outfile_stdout_failed(r, &err);
	return command_failed(session->context, &err);
}

static void complain(struct session *session, const char *word)
{
	struct bytes text = {0};

	bytes_printf(&text, "wick: ");
	if (session->line > 0)
		bytes_printf(&text, "line %" PRIu64 ": ", session->line);
	text_put_terminal(&text, word);
	bytes_printf(&text, " is not an address\n");
	if (!text.failed)
		(void)fwrite(text.data, 1, text.size, session->context->err);
	bytes_fini(&text);
}

static int print_answer(void *self, const struct resolved *found, size_t i)
{
	struct session *session = self;

	session->counts[found->quality]++;
	symbolize_print(&session->printer, found);
	iov_output_close(&session->printer.gather, session->first_slice + i);
	return 0;
}

/* Prints the results for all pending addresses, in order. */
static int answer(struct session *session)
{
	size_t count = session->asked.count;

	if (count == 0)
		return COMMAND_DONE;
	session->asked.count = 0;
	session->first_slice = iov_output_open(&session->printer.gather, count);
	if (resolver_batch_visit(session->printer.resolver, session->asked.items, count,
				 print_answer, session) < 0)
		return command_failed(session->context, &(struct error){.text = "out of memory"});
	return iov_output_is_full(&session->printer.gather) ? flush(session) : COMMAND_DONE;
}

static int ask(struct session *session, uint64_t address)
{
	bool is_json = session->printer.form->format == SYMBOLIZE_JSON;

	if (vec_push(&session->asked, address) < 0)
		return command_failed(session->context, &(struct error){.text = "out of memory"});
	return session->asked.count == (is_json ? BATCH_JSON : BATCH_TEXT) ? answer(session)
									   : COMMAND_DONE;
}

static int look_up(struct session *session, const char *word)
{
	uint64_t address;
	int status;

	if (parse_address(word, word + strlen(word), &address))
		return ask(session, address);
	status = answer(session);
	session->bad++;
	complain(session, word);
	symbolize_print_bad(&session->printer, word);
	iov_output_close(&session->printer.gather, iov_output_open(&session->printer.gather, 1));
	return status;
}

/* Ends a line of input: ignores blanks around the address, and empty lines. */
static int end_line(struct session *session)
{
	char *start = session->word;
	size_t size = session->word_size;

	session->line++;
	session->word_size = 0;
	while (size > 0 && strchr(" \t\r", start[size - 1]))
		size--;
	start[size] = '\0';
	start += strspn(start, " \t\r");
	return *start ? look_up(session, start) : COMMAND_DONE;
}

/* Appends to the line of input; cuts off what is too long for an address. */
static void add_to_line(struct session *session, const char *data, size_t size)
{
	size_t room = sizeof(session->word) - 1 - session->word_size;

	for (size_t i = 0; i < size && i < room; i++)
		session->word[session->word_size++] = data[i] ? data[i] : '?';
}

static int take_input(struct session *session, const char *data, size_t size)
{
	const char *end = data + size;
	int status = COMMAND_DONE;
	const char *line_end;
	uint64_t address;

	for (; data < end && status == COMMAND_DONE; data = line_end ? line_end + 1 : end) {
		line_end = memchr(data, '\n', (size_t)(end - data));
		/* Nearly all lines consist of just an address. */
		if (line_end && session->word_size == 0 &&
		    parse_address(data, line_end, &address)) {
			session->line++;
			status = ask(session, address);
			continue;
		}
		add_to_line(session, data, (size_t)((line_end ? line_end : end) - data));
		if (line_end)
			status = end_line(session);
	}
	return status;
}

static int read_input(struct session *session)
{
	char data[INPUT_BYTES];
	struct error err = {0};
	int status = COMMAND_DONE;

	/* A pipe that holds more brings more at once; one that cannot, and a file, stay as they
	 * are. */
	(void)fcntl(STDIN_FILENO, F_SETPIPE_SZ, PIPE_BYTES);
	while (status == COMMAND_DONE) {
		ssize_t n = read(STDIN_FILENO, data, sizeof(data));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			(void)error_file(&err, -errno, "cannot read standard input");
			return command_failed(session->context, &err);
		}
		if (n == 0)
			return session->word_size > 0 ? end_line(session) : COMMAND_DONE;
		status = take_input(session, data, (size_t)n);
		if (status == COMMAND_DONE)
			status = answer(session);
		if (status == COMMAND_DONE)
			status = flush(session);
	}
	return status;
}

static void print_statistics(const struct session *session)
{
	struct symboliser_stats stats = resolver_stats(session->printer.resolver);
	const uint64_t *counts = session->counts;
	uint64_t known = stats.hits + stats.miss_hits;

	(void)fprintf(session->context->err,
		      "wick: addresses: %" PRIu64 " with lines, %" PRIu64
		      " with a name only, %" PRIu64 " without a name, %" PRIu64
		      " in damaged files, %" PRIu64 " in no module, %" PRIu64 " invalid\n",
		      counts[SYMBOL_FULL], counts[SYMBOL_NAME_ONLY], counts[SYMBOL_NONE],
		      counts[SYMBOL_DAMAGED], counts[SYMBOL_INVALID], session->bad);
	(void)fprintf(session->context->err, "wick: peak memory %.1f MB\n",
		      (double)process_peak_bytes() / 1e6);
	(void)fprintf(
		session->context->err,
		"wick: cache: %" PRIu64 " lookups, %.1f %% from memory (%" PRIu64 " hits, %" PRIu64
		" known misses), %.1f %% from disk\n",
		stats.lookups, stats.lookups ? 100.0 * (double)known / (double)stats.lookups : 0.0,
		stats.hits, stats.miss_hits,
		stats.lookups ? 100.0 * (double)stats.disk_hits / (double)stats.lookups : 0.0);
}

/* Prints what is wrong with a module, once for each. */
static void warn(const struct session *session, const char *path)
{
	const char *problem = resolver_problem(session->printer.resolver, 0);

	if (path && problem)
		command_note(session->context, "%s: %s", path, problem);
}

static int run_symbolize(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct symbolize_options *options = values;
	struct session session = {.context = context, .printer = {.form = &options->form}};
	/* JSON has mangled and demangled names unless --no-demangle is given. */
	bool demangle = options->demangle ||
			(options->form.format == SYMBOLIZE_JSON &&
			 option_source_of(context->set, &options->demangle) == OPTION_FROM_DEFAULT);
	struct resolver_config config = {
		.path = options->path,
		.pid = (pid_t)options->pid,
		.section = options->section,
		.demangle = demangle,
		.detail = SYMBOLS_INLINES,
		.symbol_paths = options->files.paths.items,
		.symbol_path_count = options->files.paths.count,
		.no_disk_cache = !options->files.cache,
		.sources = plugins_name_sources(context->plugins),
	};
	struct debuginfod server;
	struct error err = {0};
	int status = COMMAND_DONE;

	if (!options->path == !options->pid)
		return command_misused(
			context, options->path ? "give either -e FILE or -p PID"
					       : "no file or process given: use -e FILE or -p PID");
	if (options->section && !options->path)
		return command_misused(context, "-j names a section of a file: use -e FILE");
	if (options->files.debuginfod) {
		debuginfod_init(&server, context, options->files.debuginfod_ns);
		config.fetch = &server.search;
	}
	if (resolver_open(&config, &session.printer.resolver, &err) < 0)
		return command_failed(context, &err);
	for (int i = 0; i < argc && status == COMMAND_DONE; i++)
		status = look_up(&session, argv[i]);
	if (argc == 0)
		status = read_input(&session);
	if (status == COMMAND_DONE)
		status = answer(&session);
	if (status == COMMAND_DONE)
		status = flush(&session);
	if (status == COMMAND_DONE && session.bad > 0)
		status = COMMAND_FAILED;
	warn(&session, options->path);
	if (options->verbose)
		print_statistics(&session);
	iov_output_fini(&session.printer.gather);
	vec_fini(&session.asked);
	resolver_close(session.printer.resolver);
	return status;
}

static const struct option_spec table[] = {
	{"exe", 'e', OPTION_STRING(struct symbolize_options, path), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "the program or library that contains the addresses"},
	{"pid", 'p', OPTION_U64(struct symbolize_options, pid), .argument = "PID", .min = 1,
	 .max = 4194304, .offer = OPTION_OFFER_PID,
	 .help = "the process that the addresses belong to"},
	{"section", 'j', OPTION_STRING(struct symbolize_options, section), .argument = "NAME",
	 .help = "addresses are offsets from the start of this section of the file"},
	{"functions", 'f', OPTION_FLAG(struct symbolize_options, form.functions),
	 .help = "also print function names"},
	{"inlines", 'i', OPTION_FLAG(struct symbolize_options, form.inlines),
	 .help = "also print the functions that the code was inlined into"},
	{"demangle", 'C', OPTION_TOGGLE(struct symbolize_options, demangle),
	 .help = "show C++, Rust and D names as in the source"},
	{"basenames", 's', OPTION_FLAG(struct symbolize_options, form.basenames),
	 .help = "leave out the directories of files"},
	{"addresses", 'a', OPTION_FLAG(struct symbolize_options, form.addresses),
	 .help = "print each address before its result"},
	{"pretty-print", 'P', OPTION_FLAG(struct symbolize_options, form.pretty),
	 .help = "print one line for each function, as addr2line -p does"},
	{"format", 0, OPTION_ENUM(struct symbolize_options, form.format, "text", "json"),
	 .help = "output format"},
	{OPTION_GROUP(struct symbolize_options, files, symbol_file_option_table)},
	{"verbose", 'v', OPTION_FLAG(struct symbolize_options, verbose),
	 .help = "print how many addresses were resolved, and how many of them from the cache"},
	OPTION_END,
};

const struct command command_symbolize = {
	.name = "symbolize",
	.summary = "turn addresses into functions, files, lines and inlined calls",
	.synopsis = "[OPTIONS] -e FILE [ADDRESS...]\n[OPTIONS] -p PID [ADDRESS...]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct symbolize_options),
	.defaults = &(const struct symbolize_options){.files = SYMBOL_FILE_OPTIONS_DEFAULT},
	.max_arguments = -1,
	.argument_help = "ADDRESS: hexadecimal, with or without 0x",
	.run = run_symbolize,
};
