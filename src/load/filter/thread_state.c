/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/filter/thread_state.h"

#include <string.h>

#include "base/vec.h"
#include "model/dictionary.h"

const char *thread_state_in_words(const char *state)
{
	static const struct {
		char letter;
		const char *words;
	} known[] = {
		{'R', "on CPU"},  {'S', "sleeping"}, {'D', "uninterruptible"}, {'T', "stopped"},
		{'t', "stopped"}, {'I', "idle"},     {'Z', "ended"},
	};
	size_t i;

	if (strcmp(state, "running") == 0)
		return "on CPU";

	for (i = 0; i < ARRAY_SIZE(known) && state[0] && !state[1]; i++)
		if (known[i].letter == state[0])
			return known[i].words;
	return state;
}

const char *thread_state_of(const struct dictionary *dictionary, uint32_t labels)
{
	struct label all[LABELS_MAX];
	size_t n = label_sets_get(&dictionary->labels, &dictionary->strings, labels, all);
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(all[i].key, THREAD_STATE_LABEL) == 0)
			return thread_state_in_words(all[i].value);
	return "";
}

size_t thread_state_labels(const struct dictionary *dictionary, uint32_t id, struct label *labels)
{
	size_t n = label_sets_get(&dictionary->labels, &dictionary->strings, id, labels);
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(labels[i].key, THREAD_STATE_LABEL) == 0)
			labels[i].value = thread_state_in_words(labels[i].value);
	return n;
}
