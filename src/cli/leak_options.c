/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/leak_options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "cli/command.h"
#include "symbol/demangle.h"

const struct option_spec leak_option_table[] = {
	{"min-confidence", 0, OPTION_DOUBLE(struct leak_options, min_confidence), .argument = "P",
	 .max = 1, .key = "heap.min_confidence",
	 .help = "leave out what is less certain to be a leak, 0 to 1"},
	{"min-age", 0, OPTION_DURATION(struct leak_options, min_age_ns), .argument = "TIME",
	 .key = "heap.min_age", .help = "leave out places whose oldest block is younger"},
	{"suppressions", 0, OPTION_LIST(struct leak_options, suppressions), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "heap.suppressions",
	 .help = "rules for what is not to be reported, also those of LeakSanitizer and valgrind"},
	{"gen-suppressions", 0, OPTION_FLAG(struct leak_options, gen_suppressions),
	 .help = "print rules that suppress what was found, instead of a report"},
	{"syntax", 0, OPTION_ENUM(struct leak_options, syntax, "own", "valgrind"),
	 .help = "of the rules that --gen-suppressions prints"},
	{"fail-on", 0,
	 OPTION_ENUM(struct leak_options, fail_on, "off", "definite", "probable", "possible",
		     "growth"),
	 .key = "heap.fail_on",
	 .help = "end with status 3 when there are such leaks, or surer ones; growth: when a place "
		 "grows without bound"},
	{"max-leak", 0, OPTION_SIZE(struct leak_options, max_leak_bytes), .argument = "SIZE",
	 .max = 1ull << 50, .off = "off", .key = "heap.max_leak",
	 .help = "end with status 3 when more than this is definitely or probably lost"},
	OPTION_END,
};

bool leak_options_ask(const struct leak_options *options)
{
	return options->gen_suppressions || options->fail_on != LEAK_FAIL_OFF ||
	       options->max_leak_bytes > 0;
}

bool leak_options_need_scan(const struct leak_options *options)
{
	return leak_options_ask(options) &&
	       (options->gen_suppressions || options->max_leak_bytes > 0 ||
		options->fail_on != LEAK_FAIL_GROWTH);
}

/* All of a file, no more than may be parsed. */
static int read_file(const char *path, struct bytes *ret, struct error *err)
{
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return error_file(err, -errno, "cannot open suppressions %s", path);
	while (n > 0 && ret->size <= SUPPRESSION_FILE_MAX) {
		uint8_t *place = bytes_reserve(ret, 65536);

		if (!place)
			return error_set(err, -ENOMEM, "no memory for suppressions %s", path);
		n = read(fd, place, 65536);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			return error_file(err, -errno, "cannot read suppressions %s", path);
		else
			ret->size += (size_t)n;
	}
	return 0;
}

int leak_options_read(const struct command_context *context, const struct leak_options *options,
		      struct suppressions *ret)
{
	struct error err = {0};
	int r = 0;

	*ret = (struct suppressions){0};
	for (size_t i = 0; i < options->suppressions.count && r == 0; i++) {
		const char *path = options->suppressions.items[i];
		struct bytes text = {0};

		r = read_file(path, &text, &err);
		if (r == 0)
			r = suppressions_parse(ret, path, (const char *)text.data, text.size,
					       demangle, &err);
		bytes_fini(&text);
	}
	if (r == 0)
		return COMMAND_DONE;
	return r == -ENOMEM ? command_failed(context, &err) : command_refused(context, &err);
}

/* What --fail-on asks for; the surer classes are in it. */
static struct leak_amount failing(const struct leak_options *options,
				  const struct leak_verdict *verdict)
{
	struct leak_amount sum = {0};

	for (uint32_t i = 0; i < LEAK_CLASSES; i++) {
		bool counts = i == LEAK_DEFINITE ||
			      (i == LEAK_PROBABLE && options->fail_on >= LEAK_FAIL_PROBABLE) ||
			      (i == LEAK_POSSIBLE && options->fail_on >= LEAK_FAIL_POSSIBLE);

		if (counts) {
			sum.blocks += verdict->sums[i].blocks;
			sum.bytes += verdict->sums[i].bytes;
		}
	}
	return sum;
}

static int gate(const struct command_context *context, const struct leak_options *options,
		const struct leak_verdict *verdict)
{
	bool asks_scan = options->max_leak_bytes > 0 || (options->fail_on != LEAK_FAIL_OFF &&
							 options->fail_on != LEAK_FAIL_GROWTH);
	struct leak_amount found = failing(options, verdict);
	int status = COMMAND_DONE;

	if (options->fail_on == LEAK_FAIL_GROWTH && verdict->growing > 0) {
		(void)fprintf(context->err,
			      "wick: %" PRIu64 " places grow without bound (--fail-on growth)\n",
			      verdict->growing);
		status = COMMAND_GATE;
	} else if (options->fail_on != LEAK_FAIL_OFF && options->fail_on != LEAK_FAIL_GROWTH &&
		   found.blocks > 0) {
		(void)fprintf(context->err,
			      "wick: %" PRIu64 " blocks with %" PRIu64
			      " bytes are leaks (--fail-on %s)\n",
			      found.blocks, found.bytes,
			      options->fail_on == LEAK_FAIL_DEFINITE   ? "definite"
			      : options->fail_on == LEAK_FAIL_PROBABLE ? "probable"
								       : "possible");
		status = COMMAND_GATE;
	}
	if (options->max_leak_bytes > 0 && verdict->lost_bytes > options->max_leak_bytes) {
		(void)fprintf(context->err,
			      "wick: %" PRIu64 " bytes are lost, more than the %" PRIu64
			      " of --max-leak\n",
			      verdict->lost_bytes, options->max_leak_bytes);
		status = COMMAND_GATE;
	}
	if (status == COMMAND_DONE && asks_scan && !verdict->has_scan) {
		(void)fputs("wick: whether there are leaks is not known: the recording has no leak "
			    "scan\n      record with wick heap --leaks\n",
			    context->err);
		status = COMMAND_FAILED;
	}
	return status;
}

int leak_options_print(const struct command_context *context, const struct leak_options *options,
		       const struct suppressions *rules, const struct heap_profile *heap,
		       struct leak_report_options view, FILE *file)
{
	struct leak_verdict verdict = {0};
	struct bytes text = {0};
	struct error err = {0};
	int status = COMMAND_DONE;

	view.filter = (struct leak_filter){rules, options->min_confidence, options->min_age_ns};
	if (options->gen_suppressions)
		view.form =
			options->syntax == LEAK_SYNTAX_VALGRIND ? LEAK_VALGRIND_RULES : LEAK_RULES;
	if (leak_report_print(heap, &view, &text, &verdict, &err) < 0)
		status = command_failed(context, &err);
	else if (file == context->out)
		status = command_print(context, &text);
	else
		(void)fwrite(text.data, 1, text.size, file); /* beside the results */
	bytes_fini(&text);
	return status == COMMAND_DONE ? gate(context, options, &verdict) : status;
}
