/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/language_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/call_tree.h"
#include "model/profile.h"
#include "view/language.h"
#include "view/report/report_rows.h"
#include "view/report/report_text.h"

static int compare(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

int language_rows(const struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	const struct call_node *nodes = call_tree_nodes(report->tree);
	/* Up to this node, the language is already counted: a stack counts once. */
	uint32_t open_until[LANGUAGES] = {0};

	rows->items = calloc(LANGUAGES, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < call_tree_count(report->tree); i++) {
		const struct call_node *node = &nodes[i];
		enum language language;
		struct row *row;

		if (node->function & CALL_TREE_GROUP)
			continue;
		language = language_of(profile, &profile->functions.items[node->function]);
		row = &rows->items[language];
		row->self += node->self;
		row->self_samples += node->self_samples;
		if (i < open_until[language])
			continue;
		open_until[language] = node->end;
		row->total += node->total;
		row->samples += node->samples;
	}
	for (uint32_t i = 0; i < LANGUAGES; i++) {
		struct row row = rows->items[i];

		row.id = i;
		row.name = language_name(i);
		if (open_until[i] != 0)
			rows->items[rows->count++] = row;
	}
	qsort(rows->items, rows->count, sizeof(*rows->items), compare);
	return 0;
}
