/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/parts/query_lists.h"
#include "cli/commands/parts/server_request.h"
#include "cli/text/query.h"
#include "server/query_time.h"

struct query_options {
	const char *server;
	const char *ca_file;
	const char *type;
	const char *from;
	const char *to;
	const char *format;
	const char *output;
	bool services;
	bool hosts;
	bool agents;
	bool releases;
	bool types;
	bool gaps;
	const char *labels;
	uint64_t top;
	const char *series;
	const char *by;
	uint64_t step_ns;
	uint64_t limit;
	const char *diff;
	const char *diff_release;
	const char *diff_from;
	const char *diff_to;
	bool absolute;
	struct option_list gates;
};

/* What is asked: a path and, for a list, the name of its array in the answer. */
struct question {
	const char *path;
	const char *list;
	bool compares;
};

static bool compares(const struct query_options *options)
{
	return options->diff || options->diff_release || options->diff_from || options->diff_to;
}

/* Returns how many kinds of answers are asked for at once; one is the limit. */
static int choose(const struct query_options *options, struct question *ret)
{
	const struct {
		bool wanted;
		struct question question;
	} kinds[] = {
		{options->services, {"/api/services", "services", false}},
		{options->hosts, {"/api/hosts", "hosts", false}},
		{options->agents, {"/api/agents", "agents", false}},
		{options->releases, {"/api/releases", "releases", false}},
		{options->types, {"/api/types", "types", false}},
		{options->gaps, {"/api/gaps", "gaps", false}},
		{options->labels != NULL,
		 {"/api/labels", options->labels && *options->labels ? "values" : "labels", false}},
		{options->top > 0, {"/api/top", "functions", false}},
		{options->series != NULL, {"/api/series", "points", false}},
		{compares(options), {"/api/diff", NULL, true}},
	};
	int count = 0;
	size_t i;

	*ret = (struct question){"/api/profile", NULL, false};
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].wanted) {
			*ret = kinds[i].question;
			count++;
		}
	return count;
}

/* A time of day or date is ours; "now" and "-15m" are by the server's clock. */
static int add_time(struct server_request *request, const char *name, const char *text,
		    struct error *err)
{
	char number[24];
	uint64_t time_s;
	int r;

	if (!text || text[0] == '-' || strcmp(text, "now") == 0) {
		server_request_add(request, name, text);
		return 0;
	}
	r = query_time_parse(text, clock_realtime_ns() / NS_PER_SEC, &time_s, err);
	if (r < 0)
		return r;
	(void)snprintf(number, sizeof(number), "%" PRIu64, time_s);
	server_request_add(request, name, number);
	return 0;
}

static void add_number(struct server_request *request, const char *name, uint64_t value)
{
	char number[24];

	(void)snprintf(number, sizeof(number), "%" PRIu64, value);
	server_request_add(request, name, value > 0 ? number : NULL);
}

/* "OLD..NEW" */
static int add_releases(struct server_request *request, const char *text, struct error *err)
{
	const char *dots = text ? strstr(text, "..") : NULL;
	char old[256];

	if (!text)
		return 0;
	if (!dots || dots == text || !dots[2] || (size_t)(dots - text) >= sizeof(old)) {
		(void)error_set(err, -EINVAL, "--diff-release %s: expected OLD..NEW", text);
		error_remedy(err, "list the releases: wick query --releases");
		return -EINVAL;
	}
	memcpy(old, text, (size_t)(dots - text));
	old[dots - text] = '\0';
	server_request_add(request, "release_before", old);
	server_request_add(request, "release_after", dots + 2);
	return 0;
}

static void add_gates(struct server_request *request, const struct option_list *gates)
{
	struct bytes text = {0};
	size_t i;

	for (i = 0; i < gates->count; i++)
		bytes_printf(&text, "%s%s", i > 0 ? "\n" : "", gates->items[i]);
	bytes_put_u8(&text, '\0');
	if (gates->count > 0 && !text.failed)
		server_request_add(request, "fail_if", (const char *)text.data);
	bytes_fini(&text);
}

static int fill(struct server_request *request, const struct query_options *options,
		const struct question *question, const char *selector, struct error *err)
{
	int r = add_time(request, "from", options->from, err);

	if (r == 0)
		r = add_time(request, "to", options->to, err);
	if (r == 0)
		r = add_time(request, "diff_from", options->diff_from, err);
	if (r == 0)
		r = add_time(request, "diff_to", options->diff_to, err);
	if (r == 0)
		r = add_releases(request, options->diff_release, err);
	server_request_add(request, "query", selector);
	server_request_add(request, "type", options->type);
	server_request_add(request, "diff_query", options->diff);
	server_request_add(request, "function",
			   options->series && *options->series ? options->series : NULL);
	server_request_add(request, "by", options->by);
	server_request_add(request, "name",
			   options->labels && *options->labels ? options->labels : NULL);
	server_request_add(request, "absolute", options->absolute ? "1" : NULL);
	add_number(request, "step", options->step_ns / NS_PER_SEC);
	add_number(request, "limit", options->top > 0 ? options->top : options->limit);
	if (question->compares)
		add_gates(request, &options->gates);
	return r;
}

static int print(const struct command_context *context, const struct query_options *options,
		 const struct question *question, const struct bytes *answer)
{
	bool as_is = !question->list || strcmp(options->format, "json") == 0;
	struct bytes table = {0};
	struct error err = {0};
	int status = COMMAND_DONE;

	if (!as_is && query_list_put(answer, question->list, &table, &err) < 0) {
		bytes_fini(&table);
		return command_failed(context, &err);
	}
	if (options->output) {
		const struct bytes *text = as_is ? answer : &table;

		if (outfile_write(options->output, "-o FILE", text->data, text->size, &err) < 0)
			status = command_failed(context, &err);
		else if (strcmp(options->output, "-") != 0)
			command_note(context, "wrote %s", options->output);
	} else {
		status = command_print(context, as_is ? answer : &table);
	}
	bytes_fini(&table);
	return status;
}

/* Asks for the verdicts alone: text has no place for them that a program could trust. */
static int check_gates(const struct command_context *context, struct server_request *request,
		       const struct query_options *options, const char *selector)
{
	static const struct question question = {"/api/diff", NULL, true};
	struct bytes answer = {0};
	struct error err = {0};
	int status = COMMAND_DONE;

	server_request_path(request, question.path);
	server_request_add(request, "format", "json");
	if (fill(request, options, &question, selector, &err) < 0 ||
	    server_request_send(request, &answer, &err) < 0)
		return command_failed(context, &err);
	if (query_gate_tripped(&answer))
		status = COMMAND_GATE;
	bytes_fini(&answer);
	return status;
}

static int ask(const struct command_context *context, struct server_request *request,
	       const struct query_options *options, const char *selector)
{
	struct question question;
	struct bytes answer = {0};
	struct error err = {0};
	int status;

	if (choose(options, &question) > 1)
		return command_misused(
			context, "lists, --top, --series and comparisons cannot be used together");
	server_request_path(request, question.path);
	if (!question.list)
		server_request_add(request, "format", options->format);
	server_request_add(request, "color", context->color_out && !options->output ? "1" : NULL);
	if (fill(request, options, &question, selector, &err) < 0)
		return command_refused(context, &err);
	if (server_request_send(request, &answer, &err) < 0)
		return command_failed(context, &err);
	status = print(context, options, &question, &answer);
	bytes_fini(&answer);
	if (status == COMMAND_DONE && question.compares && options->gates.count > 0)
		status = check_gates(context, request, options, selector);
	return status;
}

static int run_query(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct query_options *options = values;
	struct server_request request = {.server = options->server, .ca_file = options->ca_file};
	int status = ask(context, &request, options, argc > 0 ? argv[0] : NULL);

	server_request_fini(&request);
	return status;
}

static const struct option_spec list_table[] = {
	{"services", 0, OPTION_FLAG(struct query_options, services), .help = "list the services"},
	{"hosts", 0, OPTION_FLAG(struct query_options, hosts), .help = "list the hosts"},
	{"releases", 0, OPTION_FLAG(struct query_options, releases), .help = "list the releases"},
	{"types", 0, OPTION_FLAG(struct query_options, types),
	 .help = "list the types of profiles"},
	{"labels", 0, OPTION_STRING(struct query_options, labels), .argument = "NAME",
	 .help = "list the values of a label; '' lists the names of labels"},
	{"agents", 0, OPTION_FLAG(struct query_options, agents),
	 .help = "list the agents and their health"},
	{"gaps", 0, OPTION_FLAG(struct query_options, gaps),
	 .help = "list times without samples, and why"},
	{"top", 0, OPTION_U64(struct query_options, top), .argument = "N", .max = 10000,
	 .default_help = "", .help = "list the N most expensive functions"},
	{"series", 0, OPTION_STRING(struct query_options, series), .argument = "FUNCTION",
	 .help = "list the cost of a function over time; '' for everything"},
	{"by", 0, OPTION_STRING(struct query_options, by), .argument = "LABEL",
	 .help = "with --series: one series for each value of this label"},
	{"step", 0, OPTION_DURATION(struct query_options, step_ns), .argument = "TIME",
	 .default_help = "a hundredth of the range", .help = "with --series: time between points"},
	OPTION_END,
};

static const struct option_spec diff_table[] = {
	{"diff", 0, OPTION_STRING(struct query_options, diff), .argument = "SELECTOR",
	 .help = "compare SELECTOR (before) with this selector (after)"},
	{"diff-from", 0, OPTION_STRING(struct query_options, diff_from), .argument = "TIME",
	 .help = "compare with a second range (after), which starts here (default: --from)"},
	{"diff-to", 0, OPTION_STRING(struct query_options, diff_to), .argument = "TIME",
	 .help = "end of the second range (default: --to)"},
	{"diff-release", 0, OPTION_STRING(struct query_options, diff_release),
	 .argument = "OLD..NEW",
	 .help = "compare two releases: the hour before and the hour after NEW appeared, unless "
		 "--from or --to says otherwise"},
	{"absolute", 0, OPTION_FLAG(struct query_options, absolute),
	 .help = "compare amounts instead of shares"},
	{"fail-if", 0, OPTION_LIST(struct query_options, gates), .argument = "GATE",
	 .help = "exit with status 3 if something grew: 'FUNC>+5%', as in wick diff"},
	OPTION_END,
};

static const struct option_spec table[] = {
	{"server", 0, OPTION_STRING(struct query_options, server), .argument = "URL",
	 .key = "server.url", .help = "the server to ask"},
	{"ca", 0, OPTION_STRING(struct query_options, ca_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.ca",
	 .help = "certificates to trust instead of the system's, PEM"},
	{"type", 0, OPTION_STRING(struct query_options, type), .argument = "TYPE",
	 .default_help = "cpu; in lists: all",
	 .help = "type of profile: cpu, off-cpu, alloc_space …"},
	{"from", 0, OPTION_STRING(struct query_options, from), .argument = "TIME",
	 .default_help = "an hour before --to",
	 .help = "start of the range: -15m, -7d, 14:05, 2026-11-16T14:05:00Z"},
	{"to", 0, OPTION_STRING(struct query_options, to), .argument = "TIME",
	 .default_help = "now", .help = "end of the range"},
	{"format", 0, OPTION_STRING(struct query_options, format), .argument = "FORMAT",
	 .help = "text, json, folded, pprof, otlp, wick, svg or html; comparisons: "
		 "text, json, csv, svg or html; lists: text or json"},
	{"output", 'o', OPTION_STRING(struct query_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .default_help = "standard output",
	 .help = "where to write the answer"},
	{"limit", 'n', OPTION_U64(struct query_options, limit), .argument = "ROWS", .max = 1000000,
	 .default_help = "30 in text, else all", .help = "rows of a table"},
	/* Without offsets: their options are members of the same struct. */
	{.kind = OPTION_KIND_GROUP, .table = list_table, .help = "Lists"},
	{.kind = OPTION_KIND_GROUP, .table = diff_table, .help = "Comparisons"},
	OPTION_END,
};

const struct command command_query = {
	.name = "query",
	.summary = "ask a server for profiles, lists and comparisons",
	.synopsis = "[OPTIONS] [SELECTOR]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct query_options),
	.defaults = &(const struct query_options){.server = SERVER_REQUEST_URL, .format = "text"},
	.max_arguments = 1,
	.argument_help = "SELECTOR: what to sum up, such as web or 'web{host=\"a1\"}'",
	.has_gates = true,
	.run = run_query,
};
