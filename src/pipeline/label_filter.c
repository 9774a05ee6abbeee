/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/label_filter.h"

#include <errno.h>
#include <string.h>

#include "model/entity.h"
#include "pipeline/thread_state.h"

void label_filter_fini(struct label_filter *filter)
{
	vec_fini(&filter->answers);
}

/* The bytes of the key of a pair. */
static size_t key_bytes(const char *pair)
{
	return strcspn(pair, "=");
}

static bool holds(const char *pair, const struct label *labels, size_t count)
{
	size_t bytes = key_bytes(pair);
	const char *value = pair[bytes] ? pair + bytes + 1 : "";
	size_t i;

	for (i = 0; i < count; i++)
		if (strncmp(labels[i].key, pair, bytes) == 0 && labels[i].key[bytes] == '\0' &&
		    strcmp(labels[i].value, value) == 0)
			return true;
	return false;
}

/* Whether one of the pairs with the key of this one holds. */
static bool holds_for_key(const struct label_filter *filter, const char *pair,
			  const struct label *labels, size_t count)
{
	size_t bytes = key_bytes(pair) + 1; /* with the '=' */
	size_t i;

	for (i = 0; i < filter->count; i++)
		if (strncmp(filter->pairs[i], pair, bytes) == 0 &&
		    holds(filter->pairs[i], labels, count))
			return true;
	return false;
}

static bool accepts(const struct label_filter *filter, const struct dictionary *dictionary,
		    uint32_t set)
{
	struct label labels[LABELS_MAX];
	size_t count = thread_state_labels(dictionary, set, labels);
	size_t i;

	for (i = 0; i < filter->count; i++)
		if (!holds_for_key(filter, filter->pairs[i], labels, count))
			return false;
	return true;
}

int label_filter_ask(struct label_filter *filter, const struct dictionary *dictionary, uint32_t set,
		     bool *ret)
{
	*ret = true;
	if (filter->count == 0)
		return 0;
	while (filter->answers.count <= set)
		if (vec_push(&filter->answers, 0) < 0)
			return -ENOMEM;
	if (filter->answers.items[set] == 0)
		filter->answers.items[set] = accepts(filter, dictionary, set) ? 1 : -1;
	*ret = filter->answers.items[set] > 0;
	return 0;
}
