/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/filter/label_filter.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "load/filter/thread_state.h"
#include "model/dictionary.h"
#include "model/entity.h"

#define LISTED_MAX 20u

void label_filter_fini(struct label_filter *filter)
{
	vec_fini(&filter->answers);
}

/* The bytes of the key of a pair. */
static size_t key_bytes(const char *pair)
{
	return strcspn(pair, "=");
}

/* Whether a value is a number followed by a unit, as in pprof files. */
static bool is_number_with_unit(const char *value, const char *number)
{
	size_t sign = number[0] == '-' ? 1 : 0;
	size_t bytes = sign + strspn(number + sign, "0123456789");

	return bytes > sign && number[bytes] == '\0' && strncmp(value, number, bytes) == 0 &&
	       value[bytes] == ' ' && !strchr(value + bytes + 1, ' ');
}

static bool holds(const char *pair, const struct label *labels, size_t count)
{
	size_t bytes = key_bytes(pair);
	const char *value = pair[bytes] ? pair + bytes + 1 : "";
	size_t i;

	/* Labels have the same words for all engines; users may know others: R, running. */
	if (bytes == strlen(THREAD_STATE_LABEL) && strncmp(pair, THREAD_STATE_LABEL, bytes) == 0)
		value = thread_state_in_words(value);

	for (i = 0; i < count; i++)
		if (strncmp(labels[i].key, pair, bytes) == 0 && labels[i].key[bytes] == '\0' &&
		    (strcmp(labels[i].value, value) == 0 ||
		     is_number_with_unit(labels[i].value, value)))
			return true;
	return false;
}

/* Whether one of the pairs with this key matches. */
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

/* Whether a pair matches any label set of the recording. */
static bool holds_anywhere(const struct label_filter *filter, const struct dictionary *dictionary,
			   const char *pair)
{
	struct label labels[LABELS_MAX];
	uint32_t set;

	for (set = 0; set < dictionary->labels.sets.count; set++)
		if (holds_for_key(filter, pair, labels,
				  thread_state_labels(dictionary, set, labels)))
			return true;
	return false;
}

/* Adds a word to the list in out, which begins at `start`, unless it is already there. */
static void list_word(struct bytes *out, size_t start, const char *word, uint32_t *listed)
{
	size_t bytes = strlen(word);
	size_t at;

	for (at = start; at + bytes <= out->size && !out->failed; at++)
		if (memcmp(out->data + at, word, bytes) == 0 &&
		    (at == start || out->data[at - 1] == ' ') &&
		    (at + bytes == out->size || out->data[at + bytes] == ','))
			return;
	if (*listed < LISTED_MAX)
		bytes_printf(out, "%s%s", *listed ? ", " : "", word);
	else if (*listed == LISTED_MAX)
		bytes_printf(out, " …");
	(*listed)++;
}

/* Lists the values of a key, or all keys if it is NULL. Returns how many there are. */
static uint32_t list_labels(const struct dictionary *dictionary, const char *key, size_t key_size,
			    struct bytes *out)
{
	struct label labels[LABELS_MAX];
	size_t start = out->size;
	uint32_t listed = 0;
	uint32_t set;

	for (set = 0; set < dictionary->labels.sets.count; set++) {
		size_t count = thread_state_labels(dictionary, set, labels);
		size_t i;

		for (i = 0; i < count; i++) {
			if (!key)
				list_word(out, start, labels[i].key, &listed);
			else if (strncmp(labels[i].key, key, key_size) == 0 &&
				 labels[i].key[key_size] == '\0')
				list_word(out, start, labels[i].value, &listed);
		}
	}
	return listed;
}

void label_filter_explain(const struct label_filter *filter, const struct dictionary *dictionary,
			  struct bytes *out)
{
	size_t i;

	for (i = 0; i < filter->count; i++) {
		const char *pair = filter->pairs[i];
		size_t start;

		if (holds_anywhere(filter, dictionary, pair))
			continue;
		bytes_printf(out, "no sample has the label %s", pair);
		start = out->size;
		bytes_printf(out, "; values of %.*s: ", (int)key_bytes(pair), pair);
		if (list_labels(dictionary, pair, key_bytes(pair), out) > 0)
			return;
		out->size = start;
		bytes_printf(out, "; known labels: ");
		if (list_labels(dictionary, NULL, 0, out) > 0)
			return;
		out->size = start;
		bytes_printf(out, ": the samples have no labels at all");
		return;
	}
}
