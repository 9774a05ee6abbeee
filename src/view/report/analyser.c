/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/analyser.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

static const char *const severities[] = {
	[FINDING_NOTE] = "note",
	[FINDING_WARNING] = "warning",
	[FINDING_ERROR] = "error",
};

int analyser_run(const struct analyser_ops *analyser, const struct profile *profile,
		 struct findings *findings, struct error *err)
{
	int r;

	if (vec_push(&findings->asked, analyser->name) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = analyser->analyse_of ? analyser->analyse_of(analyser->origin, profile, findings, err)
				 : analyser->analyse(profile, findings, err);
	return r < 0 ? error_prefix(err, r, "analyser %s", analyser->name) : 0;
}

int findings_add(struct findings *findings, enum finding_severity severity, const char *text)
{
	struct finding finding = {.severity = severity,
				  .analyser = findings->asked.items[findings->asked.count - 1]};

	if (findings->items.count >= FINDINGS_MAX) {
		findings->left_out++;
		return 0;
	}
	finding.text = arena_strndup(&findings->arena, text, strnlen(text, FINDING_MAX_BYTES));
	return finding.text ? vec_push(&findings->items, finding) : -ENOMEM;
}

void findings_fini(struct findings *findings)
{
	vec_fini(&findings->items);
	vec_fini(&findings->asked);
	arena_fini(&findings->arena);
}

void findings_put_text(const struct findings *findings, struct bytes *out)
{
	size_t i;

	for (i = 0; i < findings->items.count; i++) {
		const struct finding *finding = &findings->items.items[i];

		bytes_printf(out, "%-8s %s: ", severities[finding->severity], finding->analyser);
		text_put_terminal(out, finding->text);
		bytes_put_u8(out, '\n');
	}
	if (findings->left_out > 0)
		bytes_printf(out, "and %llu more\n", (unsigned long long)findings->left_out);
	if (findings->items.count == 0)
		bytes_printf(out, "no findings\n");
}

void findings_put_json(const struct findings *findings, struct bytes *out)
{
	struct json json;
	size_t i;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_open_array(&json, "analysers");
	for (i = 0; i < findings->asked.count; i++)
		json_string(&json, NULL, findings->asked.items[i]);
	json_close(&json);
	json_open_array(&json, "findings");
	for (i = 0; i < findings->items.count; i++) {
		const struct finding *finding = &findings->items.items[i];

		json_open_object(&json, NULL);
		json_string(&json, "severity", severities[finding->severity]);
		json_string(&json, "analyser", finding->analyser);
		json_string(&json, "text", finding->text);
		json_close(&json);
	}
	json_close(&json);
	json_u64(&json, "left_out", findings->left_out);
	json_close(&json);
}
