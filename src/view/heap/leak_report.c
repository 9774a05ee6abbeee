/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/leak_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/leak/leak_confidence.h"
#include "heap/leak/suppressions.h"
#include "heap/report.h"
#include "model/profile.h"
#include "view/heap/leak_stacks.h"
#include "view/heap/misuse_text.h"

/* Limit for groups of wrong frees. */
#define MISUSES_SHOWN 10u

#define BOLD "\033[1m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

#define MOST_SCANS 8u

struct sheet {
	const struct heap_profile *heap;
	const struct profile *profile;
	const struct leak_rows *rows;
	const struct leak_report_options *options;
	struct bytes *out;
};

static struct quantity bytes_of(uint64_t bytes)
{
	return quantity_of((int64_t)(bytes < INT64_MAX ? bytes : INT64_MAX), "bytes");
}

static struct quantity time_of(uint64_t ns)
{
	return quantity_of((int64_t)ns, "nanoseconds");
}

static const struct leak_scan *scan_of(const struct heap_profile *heap, const struct leak_row *row)
{
	return row->scan == LEAK_NO_SCAN ? NULL : &heap->leaks.items.items[row->scan].scan;
}

/* Text */

static void put_amount(struct bytes *out, struct leak_amount amount)
{
	bytes_printf(out, "%s in ", bytes_of(amount.bytes).text);
	bytes_printf(out, "%s block%s", quantity_count(amount.blocks).text,
		     quantity_s(amount.blocks));
}

static void put_scan(const struct sheet *sheet, const struct leak_scan_kept *kept)
{
	const struct leak_scan *scan = &kept->scan;
	uint64_t begin_ns = heap_analysis_report(sheet->heap->analysis)->begin_ns;
	struct bytes *out = sheet->out;

	bytes_printf(out, "scan %s of ", leak_trigger_name(scan->trigger));
	text_put_terminal(out, kept->comm);
	bytes_printf(out, " (%u) after %s: ", kept->pid,
		     time_of(sheet->options->from_ns +
			     (scan->time_ns > begin_ns ? scan->time_ns - begin_ns : 0))
			     .text);
	put_amount(out, (struct leak_amount){scan->live_blocks, scan->live_bytes});
	bytes_printf(out, " live, %s scanned", bytes_of(scan->read_bytes).text);
	if (scan->paused_ns > 0)
		bytes_printf(out, ", paused for %s", time_of(scan->paused_ns).text);
	bytes_put_u8(out, '\n');
	if (scan->unread_bytes > 0 || scan->unread_threads > 0)
		bytes_printf(out,
			     "  not read: %s of memory and the stacks of %u thread%s; what they "
			     "point to may be reported as lost\n",
			     bytes_of(scan->unread_bytes).text, scan->unread_threads,
			     quantity_s(scan->unread_threads));
}

/* Only the last ones if there are many: only the last of each process counts anyway. */
static void put_scans(const struct sheet *sheet)
{
	size_t count = sheet->heap->leaks.items.count;
	size_t left_out = count > MOST_SCANS ? count - MOST_SCANS : 0;

	if (left_out > 0)
		bytes_printf(sheet->out, "%zu scans; the last %u:\n", count, MOST_SCANS);
	for (size_t i = left_out; i < count; i++)
		put_scan(sheet, &sheet->heap->leaks.items.items[i]);
}

static void put_sum(const struct sheet *sheet, const char *name, const char *meaning,
		    struct leak_amount amount)
{
	if (amount.blocks == 0)
		return;
	bytes_printf(sheet->out, "  %-10s ", name);
	put_amount(sheet->out, amount);
	bytes_printf(sheet->out, ": %s\n", meaning);
}

static void put_sums(const struct sheet *sheet)
{
	const struct leak_rows *rows = sheet->rows;

	put_sum(sheet, "definite", "nothing points to them", rows->sums[LEAK_DEFINITE]);
	put_sum(sheet, "indirect", "only lost blocks point to them", rows->sums[LEAK_INDIRECT]);
	put_sum(sheet, "probable", "only memory that is no longer in use points to them",
		rows->sums[LEAK_PROBABLE]);
	put_sum(sheet, "possible", "pointers lead into them, none to their start",
		rows->sums[LEAK_POSSIBLE]);
	put_sum(sheet, "growth", "their allocation sites grow without bound",
		rows->sums[LEAK_GROWTH]);
	put_sum(sheet, "reachable", "the program can still reach them", rows->sums[LEAK_REACHABLE]);
	put_sum(sheet, "lifetime", "reachable blocks from the first fifth of the run",
		rows->lifetime);
	put_sum(sheet, "unscanned", "not freed, and no scan looked for pointers to them",
		rows->sums[LEAK_UNSCANNED]);
	put_sum(sheet, "suppressed", "by rules", rows->suppressed);
	put_sum(sheet, "left out", "below the requested confidence or age", rows->filtered);
}

void leak_report_put_short(const struct heap_profile *heap, struct bytes *out)
{
	/* A truncated recording may not know its duration. */
	uint64_t events_ns = heap_analysis_report(heap->analysis)->end_ns;
	uint64_t recorded_ns =
		heap->profile->duration_ns > events_ns ? heap->profile->duration_ns : events_ns;

	if (recorded_ns >= GROWTH_SHORTEST_NS)
		return;
	bytes_printf(out, "growth analysis needs at least %u s; ",
		     (unsigned int)(GROWTH_SHORTEST_NS / NS_PER_SEC));
	bytes_printf(out, "this recording is %s long\n", time_of(recorded_ns).text);
}

static void put_head(const struct sheet *sheet)
{
	struct bytes *out = sheet->out;

	text_put_terminal(out, *sheet->profile->title ? sheet->profile->title : "(no title)");
	bytes_printf(out, "\n%s recorded\n", time_of(profile_recorded_ns(sheet->profile)).text);
	put_scans(sheet);
	if (!sheet->rows->has_scan)
		bytes_printf(out,
			     "this recording has no leak scan%s: unfreed blocks may still be in "
			     "use\n  wick heap --leaks scans when the program exits normally, or "
			     "when recording with -p\n  ends; --scan-every also scans while the "
			     "program runs\n",
			     sheet->options->killed ? ", because the program was killed" : "");
	else if (sheet->rows->has_unscanned)
		bytes_printf(out, "some processes were not scanned\n");
	if (heap_analysis_report(sheet->heap->analysis)->sampled)
		bytes_printf(out, "only some blocks were recorded: scans cover no others\n");
	if (sheet->rows->lost_calls > 0)
		bytes_printf(out,
			     "%s allocator call%s %s lost: blocks they freed may be reported as "
			     "leaks, so confidence is lower\n",
			     quantity_count(sheet->rows->lost_calls).text,
			     quantity_s(sheet->rows->lost_calls),
			     sheet->rows->lost_calls == 1 ? "was" : "were");
	leak_report_put_short(sheet->heap, out);
	put_sums(sheet);
	bytes_put_u8(out, '\n');
}

static void put_place(const struct sheet *sheet, const struct leak_row *row)
{
	const struct profile *profile = sheet->profile;
	const struct leak_key *key = &sheet->rows->keys.items[row->key];
	const struct profile_function *function = &profile->functions.items[key->function];
	const char *file = profile_text(profile, key->file);

	text_put_terminal(sheet->out, profile_text(profile, function->name));
	if (*file) {
		bytes_printf(sheet->out, "  ");
		text_put_terminal(sheet->out, file);
		if (key->line > 0)
			bytes_printf(sheet->out, ":%u", key->line);
	}
}

struct telling {
	struct bytes *out;
	bool has_begun;
};

static void tell_text(void *self, const char *words)
{
	struct telling *telling = self;

	bytes_printf(telling->out, "%s%s", telling->has_begun ? "; " : "", words);
	telling->has_begun = true;
}

static void put_row(const struct sheet *sheet, const struct leak_row *row)
{
	struct bytes *out = sheet->out;
	struct telling telling = {.out = out};
	const char *color = row->kind == LEAK_DEFINITE ? RED : YELLOW;
	bool is_colored = sheet->options->color && leak_row_is_shown(row);

	bytes_printf(out, " %s%-10s%s", is_colored ? color : "", leak_row_class(row),
		     is_colored ? PLAIN : "");
	bytes_printf(out, " %10.2f", row->confidence);
	bytes_printf(out, "  %10s", bytes_of(row->bytes).text);
	bytes_printf(out, "  %10s", quantity_count(row->blocks).text);
	bytes_printf(out, "  %10s", row->led_blocks > 0 ? bytes_of(row->led_bytes).text : "-");
	bytes_printf(out, "  %9s  ", time_of(row->age_ns).text);
	put_place(sheet, row);
	if (row->stack_count > 1)
		bytes_printf(out, "  (%u stacks)", row->stack_count);
	bytes_printf(out, "\n            ");
	leak_evidence_words(row, scan_of(sheet->heap, row), tell_text, &telling);
	bytes_put_u8(out, '\n');
}

static void put_rules_used(const struct sheet *sheet)
{
	const struct suppressions *rules = sheet->options->filter.suppressions;
	struct bytes *out = sheet->out;
	size_t unused = 0;

	if (!rules || (rules->rules.count == 0 && rules->passed_over == 0))
		return;
	bytes_printf(out, "\nsuppressed by rules\n");
	for (size_t i = 0; i < rules->rules.count; i++) {
		const struct leak_amount *used = &sheet->rows->rules.items[i];

		unused += used->blocks == 0;
		if (used->blocks == 0)
			continue;
		bytes_printf(out, " %10s", bytes_of(used->bytes).text);
		bytes_printf(out, "  %10s  ", quantity_count(used->blocks).text);
		text_put_terminal(out, rules->rules.items[i].name);
		bytes_printf(out, "  ");
		text_put_terminal(out, rules->rules.items[i].origin);
		bytes_put_u8(out, '\n');
	}
	if (unused > 0)
		bytes_printf(out, "rules that matched nothing\n");
	for (size_t i = 0; i < rules->rules.count; i++) {
		if (sheet->rows->rules.items[i].blocks > 0)
			continue;
		bytes_printf(out, "  ");
		text_put_terminal(out, rules->rules.items[i].name);
		bytes_printf(out, "  ");
		text_put_terminal(out, rules->rules.items[i].origin);
		bytes_put_u8(out, '\n');
	}
	if (rules->passed_over > 0)
		bytes_printf(out, "%s skipped: written for other tools\n",
			     quantity_count(rules->passed_over).text);
}

/* Reports rows beyond the limit, and those shown only on request. */
static void put_rest(const struct sheet *sheet, uint64_t more, uint64_t more_bytes)
{
	uint64_t quiet = 0;

	for (size_t i = 0; i < sheet->rows->items.count; i++)
		quiet += !sheet->options->all && !leak_row_is_shown(&sheet->rows->items.items[i]);
	if (more > 0) {
		bytes_printf(sheet->out, "%s more", quantity_count(more).text);
		bytes_printf(sheet->out, " with %s\n", bytes_of(more_bytes).text);
	}
	if (quiet > 0)
		bytes_printf(
			sheet->out,
			"%s site%s with indirect or reachable blocks not shown; --all shows %s\n",
			quantity_count(quiet).text, quantity_s(quiet), quiet == 1 ? "it" : "them");
}

void leak_report_put_text(const struct heap_profile *heap, const struct leak_rows *rows,
			  const struct leak_report_options *options, struct bytes *out)
{
	const struct sheet sheet = {heap, heap->profile, rows, options, out};
	uint64_t more_bytes = 0;
	uint64_t shown = 0;
	uint64_t more = 0;

	put_head(&sheet);
	for (size_t i = 0; i < rows->items.count; i++) {
		const struct leak_row *row = &rows->items.items[i];

		if (!options->all && !leak_row_is_shown(row))
			continue;
		if (options->limit && shown == options->limit) {
			more++;
			more_bytes += row->bytes;
			continue;
		}
		if (shown++ == 0)
			bytes_printf(out, " %-10s %10s  %10s  %10s  %10s  %9s  %s\n", "class",
				     "confidence", "bytes", "blocks", "indirect", "age", "where");
		put_row(&sheet, row);
		if (options->form == LEAK_TREE)
			leak_stacks_put_tree(heap->profile, rows, row, out);
	}
	if (shown == 0)
		bytes_printf(out, "no leaks found\n");
	put_rest(&sheet, more, more_bytes);
	misuse_text_put(out, heap, MISUSES_SHOWN);
	put_rules_used(&sheet);
}

/* JSON */

static void tell_json(void *self, const char *words)
{
	json_string(self, NULL, words);
}

static void json_amount(struct json *json, const char *key, struct leak_amount amount)
{
	json_open_object(json, key);
	json_u64(json, "bytes", amount.bytes);
	json_u64(json, "blocks", amount.blocks);
	json_close(json);
}

static void json_growth(struct json *json, const struct growth *growth)
{
	static const char *const kinds[] = {
		[GROWTH_NONE] = "none",
		[GROWTH_LEVELLED] = "levelled off",
		[GROWTH_SLOWS] = "slows down",
		[GROWTH_UNBOUNDED] = "unbounded",
	};

	json_open_object(json, "growth");
	json_string(json, "kind", kinds[growth->kind]);
	json_double(json, "confidence", growth->confidence, 3);
	json_double(json, "bytes_per_second", growth->bytes_per_second, 1);
	json_u64(json, "from_ns", growth->from_ns);
	json_u64(json, "to_ns", growth->to_ns);
	if (growth->change_ns > 0) {
		json_u64(json, "change_ns", growth->change_ns);
		json_double(json, "before_bytes_per_second", growth->before_bytes_per_second, 1);
		json_double(json, "after_bytes_per_second", growth->after_bytes_per_second, 1);
	}
	json_close(json);
}

static void json_row(const struct sheet *sheet, struct json *json, const struct leak_row *row)
{
	const struct profile *profile = sheet->profile;
	const struct leak_key *key = &sheet->rows->keys.items[row->key];
	const struct profile_function *function = &profile->functions.items[key->function];
	const struct leak_scan *scan = scan_of(sheet->heap, row);

	json_open_object(json, NULL);
	json_string(json, "class", leak_row_class(row));
	json_double(json, "confidence", row->confidence, 3);
	json_string(json, "method", leak_method(row, scan));
	json_open_array(json, "evidence");
	leak_evidence_words(row, scan, tell_json, json);
	json_close(json);
	json_u64(json, "bytes", row->bytes);
	json_u64(json, "blocks", row->blocks);
	json_u64(json, "indirect_bytes", row->led_bytes);
	json_u64(json, "indirect_blocks", row->led_blocks);
	json_u64(json, "age_ns", row->age_ns);
	json_u64(json, "first_ns", row->first_ns);
	json_u64(json, "last_ns", row->last_ns);
	json_string(json, "function_name", profile_text(profile, function->name));
	json_string(json, "module", profile_text(profile, function->module));
	json_string(json, "file", profile_text(profile, key->file));
	json_u64(json, "line", key->line);
	json_string(json, "advice", leak_advice(row));
	json_growth(json, &row->growth);
	leak_stacks_put_json(profile, sheet->rows, row, json);
	json_close(json);
}

static void json_scans(const struct sheet *sheet, struct json *json)
{
	uint64_t begin_ns = heap_analysis_report(sheet->heap->analysis)->begin_ns;

	json_open_array(json, "scans");
	for (size_t i = 0; i < sheet->heap->leaks.items.count; i++) {
		const struct leak_scan_kept *kept = &sheet->heap->leaks.items.items[i];
		const struct leak_scan *scan = &kept->scan;

		json_open_object(json, NULL);
		json_u64(json, "pid", kept->pid);
		json_string(json, "process", kept->comm);
		json_string(json, "trigger", leak_trigger_name(scan->trigger));
		json_u64(json, "time_ns", scan->time_ns > begin_ns ? scan->time_ns - begin_ns : 0);
		json_u64(json, "paused_ns", scan->paused_ns);
		json_u64(json, "cpu_ns", scan->cpu_ns);
		json_u64(json, "live_blocks", scan->live_blocks);
		json_u64(json, "live_bytes", scan->live_bytes);
		json_u64(json, "read_bytes", scan->read_bytes);
		json_u64(json, "unread_bytes", scan->unread_bytes);
		json_u64(json, "unread_threads", scan->unread_threads);
		json_close(json);
	}
	json_close(json);
}

static void json_rules(const struct sheet *sheet, struct json *json)
{
	const struct suppressions *rules = sheet->options->filter.suppressions;

	json_open_array(json, "suppressions");
	for (size_t i = 0; rules && i < rules->rules.count; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", rules->rules.items[i].name);
		json_string(json, "origin", rules->rules.items[i].origin);
		json_u64(json, "bytes", sheet->rows->rules.items[i].bytes);
		json_u64(json, "blocks", sheet->rows->rules.items[i].blocks);
		json_close(json);
	}
	json_close(json);
	json_u64(json, "rules_passed_over", rules ? rules->passed_over : 0);
}

void leak_report_put_json(const struct heap_profile *heap, const struct leak_rows *rows,
			  const struct leak_report_options *options, struct json *json)
{
	const struct sheet sheet = {heap, heap->profile, rows, options, NULL};
	size_t shown = options->limit && options->limit < rows->items.count ? options->limit
									    : rows->items.count;

	json_bool(json, "scanned", rows->has_scan);
	json_u64(json, "lost_calls", rows->lost_calls);
	json_scans(&sheet, json);
	json_open_object(json, "sums");
	for (uint32_t i = 0; i < LEAK_KINDS; i++)
		json_amount(json, leak_kind_name(i), rows->sums[i]);
	json_amount(json, "lifetime", rows->lifetime);
	json_amount(json, "suppressed", rows->suppressed);
	json_amount(json, "left_out", rows->filtered);
	json_close(json);
	json_open_array(json, "leaks");
	for (size_t i = 0; i < shown; i++)
		json_row(&sheet, json, &rows->items.items[i]);
	json_close(json);
	json_u64(json, "more", rows->items.count - shown);
	json_rules(&sheet, json);
}

static void put_json(const struct heap_profile *heap, const struct leak_rows *rows,
		     const struct leak_report_options *options, struct bytes *out)
{
	struct json json;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_string(&json, "title", heap->profile->title);
	json_u64(&json, "duration_ns", heap->profile->duration_ns);
	leak_report_put_json(heap, rows, options, &json);
	misuse_put_json(&json, heap);
	json_close(&json);
}

void leak_report_judge(const struct leak_rows *rows, struct leak_verdict *ret)
{
	*ret = (struct leak_verdict){.has_scan = rows->has_scan};
	memcpy(ret->sums, rows->sums, sizeof(ret->sums));
	ret->lost_bytes =
		rows->sums[LEAK_DEFINITE].bytes + rows->sums[LEAK_PROBABLE].bytes + rows->led.bytes;
	for (size_t i = 0; i < rows->items.count; i++) {
		const struct leak_row *row = &rows->items.items[i];

		ret->growing += row->growth.confidence >= GROWTH_SURE;
		if (row->scan == LEAK_NO_SCAN && !row->is_freed) {
			ret->unscanned.blocks += row->blocks;
			ret->unscanned.bytes += row->bytes;
		}
	}
}

int leak_report_print(const struct heap_profile *heap, const struct leak_report_options *options,
		      struct bytes *out, struct leak_verdict *ret_verdict, struct error *err)
{
	struct leak_rows rows;
	int r = leak_rows_init(heap, &options->filter, &rows);

	if (r == 0 && options->form == LEAK_JSON)
		put_json(heap, &rows, options, out);
	else if (r == 0 && options->form >= LEAK_RULES)
		leak_report_put_rules(heap, &rows, options, out);
	else if (r == 0)
		leak_report_put_text(heap, &rows, options, out);
	if (r == 0 && ret_verdict)
		leak_report_judge(&rows, ret_verdict);
	leak_rows_fini(&rows);
	if (r < 0 || out->failed)
		return error_set(err, r < 0 ? r : -ENOMEM,
				 "cannot write the leak report: no memory");
	return 0;
}
