/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/label_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/files/served_files.h"
#include "server/files/thread_match.h"

static bool is_wanted(const struct served_file *file, const struct store_selector *selector)
{
	return matches_accept_service(selector->matches, selector->match_count, file->name);
}

static void merge(struct store_item *into, const struct store_item *item)
{
	into->samples += item->samples;
	into->value += item->value;
	if (into->from_s == 0 || item->from_s < into->from_s)
		into->from_s = item->from_s;
	if (item->to_s > into->to_s)
		into->to_s = item->to_s;
}

static int add_item(struct label_list *list, const struct store_item *item)
{
	size_t i;

	for (i = 0; i < list->items.count; i++)
		if (strcmp(list->items.items[i].name, item->name) == 0 &&
		    strcmp(list->items.items[i].detail, item->detail) == 0) {
			merge(&list->items.items[i], item);
			return 0;
		}
	return vec_push(&list->items, *item);
}

static struct store_item item_of(const struct served_file *file, const char *name)
{
	return (struct store_item){
		.name = name,
		.detail = "",
		.from_s = (uint32_t)file_summary_from_s(&file->summary),
		.to_s = (uint32_t)file_summary_to_s(&file->summary),
	};
}

static int add_types(struct label_list *list, const struct served_file *file)
{
	size_t i;
	int r = 0;

	for (i = 0; i < file->summary.types.count && r == 0; i++) {
		const struct file_type *type = &file->summary.types.items[i];
		struct store_item item = item_of(file, type->name);

		item.detail = type->unit;
		item.samples = type->samples;
		item.value = type->value;
		r = add_item(list, &item);
	}
	return r;
}

static int add_threads(struct label_list *list, const struct served_file *file,
		       const struct store_selector *selector, const char *label)
{
	char scratch[THREAD_LABEL_BYTES];
	size_t i;
	int r = 0;

	for (i = 0; i < file->summary.threads.count && r == 0; i++) {
		const struct file_thread *thread = &file->summary.threads.items[i];
		const char *value = thread_label(thread, label, scratch);
		struct store_item item = item_of(file, value);

		if (!value ||
		    !matches_accept_thread(selector->matches, selector->match_count, thread))
			continue;
		if (value == scratch) { /* a number has no text of its own */
			char *text = strdup(value);

			if (!text || vec_push(&list->texts, text) < 0) {
				free(text);
				return -ENOMEM;
			}
			item.name = text;
		}
		item.samples = thread->samples;
		item.value = thread->value;
		r = add_item(list, &item);
	}
	return r;
}

int label_list_add_file(struct label_list *list, const struct served_file *file,
			const struct store_selector *selector, const char *label)
{
	struct store_item item = item_of(file, file->name);

	if (!is_wanted(file, selector))
		return 0;
	if (strcmp(label, "type") == 0)
		return add_types(list, file);
	if (strcmp(label, "service") != 0)
		return add_threads(list, file, selector, label);
	label_list_sum(&item, file, selector);
	return add_item(list, &item);
}

void label_list_sum(struct store_item *item, const struct served_file *file,
		    const struct store_selector *selector)
{
	const struct file_type *type = file_summary_type(&file->summary, selector->type);
	struct store_item whole = item_of(file, file->name);

	if (!is_wanted(file, selector))
		return;
	whole.samples = type ? type->samples : 0;
	whole.value = type ? type->value : 0;
	merge(item, &whole);
}

static int by_value(const void *a, const void *b)
{
	const struct store_item *x = a;
	const struct store_item *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return strcmp(x->name, y->name);
}

void label_list_pass(struct label_list *list, store_item_fn each, void *self)
{
	size_t i;

	if (list->items.count > 0)
		qsort(list->items.items, list->items.count, sizeof(*list->items.items), by_value);
	for (i = 0; i < list->items.count; i++)
		if (!each(self, &list->items.items[i]))
			return;
}

void label_list_fini(struct label_list *list)
{
	size_t i;

	for (i = 0; i < list->texts.count; i++)
		free(list->texts.items[i]);
	vec_fini(&list->texts);
	vec_fini(&list->items);
}
