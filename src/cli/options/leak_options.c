/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/leak_options.h"

#include <errno.h>
#include <inttypes.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "heap/timeline/growth.h"
#include "symbol/demangle.h"

const struct option_spec leak_option_table[] = {
	{"min-confidence", 0, OPTION_DOUBLE(struct leak_options, min_confidence), .argument = "P",
	 .max = 1, .key = "heap.min_confidence",
	 .help = "leave out leaks that are less certain than this"},
	{"min-age", 0, OPTION_DURATION(struct leak_options, min_age_ns), .argument = "TIME",
	 .key = "heap.min_age", .help = "leave out places whose oldest block is younger than this"},
	{"suppressions", 0, OPTION_LIST(struct leak_options, suppressions), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "heap.suppressions",
	 .help = "rules for leaks not to report; files of LeakSanitizer and valgrind work too"},
	{"gen-suppressions", 0, OPTION_FLAG(struct leak_options, gen_suppressions),
	 .help = "print rules that suppress the leaks found, instead of a report"},
	{"syntax", 0, OPTION_ENUM(struct leak_options, syntax, "own", "valgrind"),
	 .help = "syntax of the rules that --gen-suppressions prints"},
	{"fail-on", 0,
	 OPTION_ENUM(struct leak_options, fail_on, "off", "definite", "probable", "possible",
		     "growth"),
	 .key = "heap.fail_on",
	 .help = "exit with status 3 if there are leaks of this class or a more certain one; "
		 "growth: if a place holds more and more memory, which needs a recording of at "
		 "least 8 s"},
	{"max-leak", 0, OPTION_SIZE(struct leak_options, max_leak_bytes), .argument = "SIZE",
	 .max = 1ull << 50, .off = "off", .key = "heap.max_leak",
	 .help = "exit with status 3 if definite and probable leaks add up to more than this"},
	OPTION_END,
};

_Static_assert(GROWTH_SHORTEST_NS == 8 * (uint64_t)NS_PER_SEC, "the text of --fail-on");

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

bool leak_options_have_rules(const struct leak_options *options)
{
	return options->gen_suppressions || options->suppressions.count > 0;
}

int leak_options_read(const struct command_context *context, const struct leak_options *options,
		      struct suppressions *ret)
{
	struct error err = {0};
	int r = 0;

	*ret = (struct suppressions){0};
	for (size_t i = 0; i < options->suppressions.count && r == 0; i++)
		r = suppressions_read(ret, options->suppressions.items[i], demangle, &err);
	if (r == 0)
		return COMMAND_DONE;
	return r == -ENOMEM ? command_failed(context, &err) : command_refused(context, &err);
}

/* The leaks that --fail-on counts, including those of more certain classes. */
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

/* Prints what --fail-on found. Returns false if it found nothing. */
static bool fails(const struct command_context *context, const struct leak_options *options,
		  const struct leak_verdict *verdict)
{
	static const char *const names[] = {[LEAK_FAIL_DEFINITE] = "definite",
					    [LEAK_FAIL_PROBABLE] = "probable",
					    [LEAK_FAIL_POSSIBLE] = "possible"};
	struct leak_amount found = failing(options, verdict);

	if (options->fail_on == LEAK_FAIL_OFF)
		return false;
	if (options->fail_on == LEAK_FAIL_GROWTH) {
		if (verdict->growing > 0)
			(void)fprintf(
				context->err,
				"wick: %" PRIu64 " place%s without bound (--fail-on growth)\n",
				verdict->growing, verdict->growing == 1 ? " grows" : "s grow");
		return verdict->growing > 0;
	}
	if (found.blocks > 0)
		(void)fprintf(
			context->err,
			"wick: %" PRIu64 " block%s with %" PRIu64 " byte%s %s (--fail-on %s)\n",
			found.blocks, quantity_s(found.blocks), found.bytes,
			quantity_s(found.bytes), found.blocks == 1 ? "is a leak" : "are leaks",
			names[options->fail_on]);
	return found.blocks > 0;
}

int leak_options_unknown(const struct command_context *context, enum leak_unknown why)
{
	static const char *const words[] = {
		[LEAK_UNKNOWN_NO_SCAN] = "the recording has no leak scan\n      record with wick "
					 "heap --leaks; if the program is killed, or may end "
					 "before the recording (-p), add --scan-every 1s",
		[LEAK_UNKNOWN_KILLED] = "the program was killed before its heap could be scanned\n "
					"     scan it while it runs: wick heap --scan-every 1s",
		[LEAK_UNKNOWN_FAILED] =
			"a scan at the end of a program failed\n      follow the advice above, or "
			"scan it while it runs: wick heap --scan-every 1s",
		[LEAK_UNKNOWN_PART] = "a process that did not free all its blocks was not scanned, "
				      "for example because it was killed\n      check only the "
				      "program itself with wick heap --no-children, or accept such "
				      "blocks with a rule for unscanned in --suppressions",
	};

	(void)fprintf(context->err, "wick: cannot tell whether there are leaks: %s\n", words[why]);
	return COMMAND_FAILED;
}

static int gate(const struct command_context *context, const struct leak_options *options,
		const struct leak_verdict *verdict, bool killed)
{
	bool asks_scan = options->max_leak_bytes > 0 || (options->fail_on != LEAK_FAIL_OFF &&
							 options->fail_on != LEAK_FAIL_GROWTH);
	int status = fails(context, options, verdict) ? COMMAND_GATE : COMMAND_DONE;

	if (options->max_leak_bytes > 0 && verdict->lost_bytes > options->max_leak_bytes) {
		(void)fprintf(context->err,
			      "wick: %" PRIu64 " byte%s lost, more than the limit of %" PRIu64
			      " (--max-leak)\n",
			      verdict->lost_bytes, verdict->lost_bytes == 1 ? " is" : "s are",
			      options->max_leak_bytes);
		status = COMMAND_GATE;
	}
	if (status == COMMAND_DONE && asks_scan && verdict->has_scan &&
	    verdict->unscanned.blocks > 0)
		status = leak_options_unknown(context, LEAK_UNKNOWN_PART);
	if (status == COMMAND_DONE && asks_scan && !verdict->has_scan)
		status = leak_options_unknown(context,
					      killed ? LEAK_UNKNOWN_KILLED : LEAK_UNKNOWN_NO_SCAN);
	return status;
}

/* The exit status if growth could not be judged. */
static int judge_length(const struct command_context *context, const struct leak_options *options,
			const struct heap_profile *heap, int status)
{
	struct bytes text = {0};

	if (options->fail_on != LEAK_FAIL_GROWTH || status != COMMAND_DONE)
		return status;
	leak_report_put_short(heap, &text);
	if (text.size > 0) {
		(void)fprintf(context->err,
			      "wick: cannot tell whether memory grows without bound: %.*s      "
			      "record the program for longer, or use --fail-on definite\n",
			      (int)text.size, (const char *)text.data);
		status = COMMAND_FAILED;
	}
	bytes_fini(&text);
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
		(void)fwrite(text.data, 1, text.size, file); /* not with the results */
	bytes_fini(&text);
	if (status != COMMAND_DONE)
		return status;
	return judge_length(context, options, heap, gate(context, options, &verdict, view.killed));
}
