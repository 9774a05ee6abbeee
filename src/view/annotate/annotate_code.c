/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"
#include "view/annotate/annotate.h"
#include "view/annotate/annotation.h"
#include "view/annotate/disassembly.h"
#include "view/report/address_rows.h"

/*
 * The instructions of a function. Code with samples is disassembled symbol by symbol: an inlined
 * function has its instructions in other symbols. If that fails, only addresses are shown, with a
 * note that says why.
 */

/* Instructions shown before and after one with samples. */
#define CONTEXT 8u

static void put_instruction(struct annotation *annotation, const struct address_row *row,
			    uint64_t vaddr, const char *text)
{
	const struct report *report = &annotation->report;
	struct json *json = &annotation->json;
	int64_t self = row ? row->self : 0;
	char address[24];

	if (annotation->options->json) {
		(void)snprintf(address, sizeof(address), "0x%" PRIx64, vaddr); /* it fits */
		json_open_object(json, NULL);
		json_string(json, "address", address);
		json_string(json, "text", text);
		json_u64(json, "line", row ? row->line : 0);
		json_i64(json, "self", self);
		json_double(json, "self_percent", quantity_percent(self, report->total), 3);
		if (report_counts_samples(report))
			json_u64(json, "samples", row ? row->samples : 0);
		json_close(json);
		return;
	}
	if (row)
		report_put_share(report, self);
	else
		bytes_printf(report->out, "%8s", "");
	annotation_put_bar(annotation, self);
	bytes_printf(report->out, "  %12" PRIx64, vaddr);
	if (row && row->line > 0)
		bytes_printf(report->out, " %6" PRIu32 "  ", row->line);
	else
		bytes_printf(report->out, " %6s  ", "");
	text_put_terminal(report->out, text ? text : "");
	bytes_put_u8(report->out, '\n');
}

/* Whether one of the rows (sorted, all at or after the first's address) is near the i-th. */
static bool is_near(const struct disassembly *code, size_t i, const struct address_row *rows,
		    size_t count)
{
	size_t from = i > CONTEXT ? i - CONTEXT : 0;
	size_t to = i + CONTEXT < code->count ? i + CONTEXT : code->count - 1;
	size_t low = 0;
	size_t high = count;

	while (low < high) { /* the first row at or after the address of from */
		size_t middle = low + (high - low) / 2;

		if (rows[middle].vaddr < code->items[from].vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && rows[low].vaddr <= code->items[to].vaddr;
}

/* One symbol with the rows that are in it. */
static void put_code(struct annotation *annotation, const struct disassembly *code,
		     const struct address_row *rows, size_t count)
{
	size_t at = 0;
	bool gap = false;
	size_t i;

	for (i = 0; i < code->count; i++) {
		uint64_t vaddr = code->items[i].vaddr;

		/* An address inside an instruction is shown as it is, before the next one. */
		for (; at < count && rows[at].vaddr < vaddr; at++)
			put_instruction(annotation, &rows[at], rows[at].vaddr, NULL);
		if (!annotation->options->json && !is_near(code, i, rows, count)) {
			if (!gap)
				bytes_printf(annotation->report.out, "%22s\n", "…");
			gap = true;
			continue;
		}
		gap = false;
		if (at < count && rows[at].vaddr == vaddr)
			put_instruction(annotation, &rows[at++], vaddr, code->items[i].text);
		else
			put_instruction(annotation, NULL, vaddr, code->items[i].text);
	}
	for (; at < count; at++)
		put_instruction(annotation, &rows[at], rows[at].vaddr, NULL);
}

/* The rows of one module. */
static void put_module(struct annotation *annotation, const struct address_row *rows, size_t count)
{
	const struct profile *profile = annotation->profile;
	const struct profile_module *module = profile_find_module(profile, rows[0].module);
	const char *path = profile_text(profile, rows[0].module);
	struct build_id none = {0};
	size_t first = 0;
	size_t end;

	for (; first < count; first = end) {
		struct disassembly code = {0};
		struct error err = {0};

		end = count;
		if (disassembly_read(path, module ? &module->build_id : &none, rows[first].vaddr,
				     &code, &err) < 0) {
			annotation_note(annotation, "%s%s%s", err.text, *err.remedy ? "; " : "",
					err.remedy);
			for (; first < end; first++)
				put_instruction(annotation, &rows[first], rows[first].vaddr, NULL);
			return;
		}
		for (end = first; end < count && rows[end].vaddr < code.end;)
			end++;
		if (end == first)
			end++; /* always advance */
		put_code(annotation, &code, rows + first, end - first);
		disassembly_fini(&code);
	}
}

int annotation_put_instructions(struct annotation *annotation)
{
	const struct profile *profile = annotation->profile;
	const struct report *report = &annotation->report;
	bool json = annotation->options->json;
	SCOPED(mem) struct address_row *rows = NULL;
	size_t count = 0;
	size_t first = 0;
	size_t end;
	int r = address_rows_new(profile, annotation->value, annotation->wanted, &rows, &count);

	if (r < 0)
		return r;
	if (json)
		json_open_array(&annotation->json, "modules");
	for (; first < count; first = end) {
		const char *path = profile_text(profile, rows[first].module);

		for (end = first; end < count && rows[end].module == rows[first].module;)
			end++;
		if (json) {
			json_open_object(&annotation->json, NULL);
			json_string(&annotation->json, "path", path);
			json_open_array(&annotation->json, "instructions");
		} else {
			bytes_put_u8(report->out, '\n');
			report_color(report, REPORT_BOLD);
			text_put_terminal(report->out, *path ? path : "[no module]");
			report_plain(report);
			bytes_printf(report->out, "\n%8s%s  %12s %6s\n", "self",
				     annotation->options->color ? "         " : "", "address",
				     "line");
		}
		put_module(annotation, rows + first, end - first);
		if (json) {
			json_close(&annotation->json);
			json_close(&annotation->json);
		}
	}
	if (json)
		json_close(&annotation->json);
	if (count == 0)
		annotation_note(annotation,
				"no samples in the function itself: it only calls others");
	return 0;
}
