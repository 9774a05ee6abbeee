/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/lock_report.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/lock_label.h"
#include "model/profile.h"
#include "view/report/lock_rows.h"
#include "view/report/report.h"
#include "view/report/report_text.h"

/* Limit for the lines of waiters and of wakers below a lock. */
#define PARTIES_SHOWN 3u

static bool has_fact(const struct profile *profile, const char *key, const char *value)
{
	for (size_t i = 0; i < profile->facts.count; i++)
		if (strcmp(profile_text(profile, profile->facts.items[i].key), key) == 0 &&
		    strcmp(profile_text(profile, profile->facts.items[i].value), value) == 0)
			return true;
	return false;
}

static bool has_locks(const struct profile *profile)
{
	for (size_t i = 0; i < profile->labels.pairs.count; i++)
		if (strcmp(profile_text(profile, profile->labels.pairs.items[i].key), LOCK_LABEL) ==
		    0)
			return true;
	return false;
}

int lock_report_check(const struct profile *profile, struct error *err)
{
	bool is_away = has_fact(profile, "mode", "offcpu") || has_fact(profile, "mode", "wall");

	if ((is_away && has_fact(profile, "engine", "ebpf")) || has_locks(profile))
		return 0;
	return error_advise(
		err,
		error_set(err, -EINVAL, "the recording has no lock waits%s",
			  is_away ? ": only --engine ebpf records them"
				  : ": it does not record off-CPU time"),
		"record with: sudo wick record --engine ebpf --mode offcpu --waker -- COMMAND");
}

static int make_rows(const struct report *report, struct lock_rows *rows)
{
	int r = lock_rows_make(report->profile, report->options->value, rows);

	if (r == 0 && report->options->sort == REPORT_SORT_SAMPLES)
		lock_rows_sort_by_waits(rows);
	return r;
}

static size_t shown_rows(const struct report *report, const struct lock_rows *rows)
{
	uint32_t limit = report->options->limit;

	return limit && rows->items.count > limit ? limit : rows->items.count;
}

static int64_t mean_of(const struct lock_row *row)
{
	return row->waits > 0 ? row->total / (int64_t)row->waits : 0;
}

/* The name of a thread as a separate text, which the caller frees. */
static const char *thread_of(const struct lock_party *party, struct bytes *text)
{
	bytes_put(text, party->thread, party->thread_bytes);
	bytes_put_u8(text, 0);
	return text->failed ? "" : (const char *)text->data;
}

static void put_party(const struct report *report, const struct lock_party *party)
{
	struct bytes *out = report->out;
	struct bytes text = {0};
	const char *thread = thread_of(party, &text);

	if (!*party->function && *thread == '[') {
		report_put_name(out, thread); /* a timer or an interrupt */
	} else {
		report_put_name(out, *party->function ? party->function : "[unknown]");
		report_color(report, REPORT_DIM);
		if (*party->call) {
			bytes_printf(out, ", ");
			report_put_name(out, party->call);
		}
		bytes_printf(out, ", thread ");
		report_put_name(out, thread);
		report_plain(report);
	}
	bytes_put_u8(out, '\n');
	bytes_fini(&text);
}

static void put_parties(const struct report *report, const struct lock_row *row,
			const struct lock_parties *parties, const char *what)
{
	struct bytes *out = report->out;
	size_t count = parties->list.count;

	for (size_t i = 0; i < count && i < PARTIES_SHOWN; i++) {
		bytes_printf(out, "%10s%-9s %7s  ", "", i == 0 ? what : "",
			     quantity_share(parties->list.items[i].total, row->total).text);
		put_party(report, &parties->list.items[i]);
	}
	if (count > PARTIES_SHOWN)
		bytes_printf(out, "%29s%zu more\n", "", count - PARTIES_SHOWN);
}

static void put_row(const struct report *report, const struct lock_row *row)
{
	struct bytes *out = report->out;

	report_put_share(report, row->total);
	bytes_printf(out, "  %10s", quantity_of(row->total, report->unit).text);
	bytes_printf(out, "  %9s", quantity_count(row->waits).text);
	bytes_printf(out, "  %10s", quantity_of(mean_of(row), report->unit).text);
	bytes_printf(out, "  %10s  ",
		     row->longest > 0 ? quantity_of(row->longest, report->unit).text : "-");
	report_put_name(out, *row->name ? row->name : row->lock);
	if (*row->name) {
		report_color(report, REPORT_DIM);
		bytes_printf(out, "  ");
		report_put_name(out, row->lock);
		report_plain(report);
	}
	bytes_put_u8(out, '\n');
	put_parties(report, row, &row->waiters, "waits in");
	put_parties(report, row, &row->wakers, "woken by");
}

static void put_rows(const struct report *report, const struct lock_rows *rows)
{
	struct report of_locks = *report; /* shares are of the waits for locks */
	struct bytes *out = report->out;
	size_t shown = shown_rows(report, rows);
	size_t more = rows->items.count - shown;

	of_locks.total = rows->total;
	bytes_printf(out, "waits for locks: %s, ", quantity_of(rows->total, report->unit).text);
	bytes_printf(out, "%s time%s, ", quantity_count(rows->waits).text, quantity_s(rows->waits));
	bytes_printf(out, "%s of all\n\n", quantity_share(rows->total, report->total).text);
	report_color(report, REPORT_BOLD);
	bytes_printf(out, "%8s  %10s  %9s  %10s  %10s  lock", "share", "total", "waits", "mean",
		     "longest");
	report_plain(report);
	bytes_put_u8(out, '\n');
	for (size_t i = 0; i < shown; i++)
		put_row(&of_locks, &rows->items.items[i]);
	if (more > 0)
		bytes_printf(out, "%s more lock%s\n", quantity_count(more).text, quantity_s(more));
	if (!rows->has_wakers)
		bytes_printf(out, "\nlock holders were not recorded: use wick record --waker\n");
}

int lock_report_text(const struct report *report)
{
	struct lock_rows rows;
	int r = make_rows(report, &rows);

	if (r == 0 && rows.items.count == 0)
		bytes_printf(report->out, "no thread waited for a lock\n");
	else if (r == 0)
		put_rows(report, &rows);
	lock_rows_fini(&rows);
	return r;
}

static void json_parties(struct json *json, const char *key, const struct lock_parties *parties)
{
	json_open_array(json, key);
	for (size_t i = 0; i < parties->list.count; i++) {
		const struct lock_party *party = &parties->list.items[i];
		struct bytes text = {0};

		json_open_object(json, NULL);
		json_string(json, "function", *party->function ? party->function : NULL);
		json_string(json, "call", *party->call ? party->call : NULL);
		json_string(json, "thread", thread_of(party, &text));
		json_i64(json, "total", party->total);
		json_u64(json, "waits", party->waits);
		json_close(json);
		bytes_fini(&text);
	}
	json_close(json);
}

int lock_report_json(const struct report *report, struct json *json)
{
	struct lock_rows rows;
	size_t shown;
	int r = make_rows(report, &rows);

	if (r < 0) {
		lock_rows_fini(&rows);
		return r;
	}
	shown = shown_rows(report, &rows);
	json_string(json, "by", "lock");
	json_open_array(json, "rows");
	for (size_t i = 0; i < shown; i++) {
		const struct lock_row *row = &rows.items.items[i];

		json_open_object(json, NULL);
		json_string(json, "lock", row->lock);
		json_string(json, "name", *row->name ? row->name : NULL);
		json_i64(json, "total", row->total);
		json_double(json, "total_percent", quantity_percent(row->total, rows.total), 3);
		json_u64(json, "waits", row->waits);
		json_i64(json, "mean", mean_of(row));
		if (row->longest > 0)
			json_i64(json, "longest", row->longest);
		else
			json_string(json, "longest", NULL);
		json_parties(json, "waiters", &row->waiters);
		json_parties(json, "wakers", &row->wakers);
		json_close(json);
	}
	json_close(json);
	json_u64(json, "more", rows.items.count - shown);
	lock_rows_fini(&rows);
	return 0;
}
