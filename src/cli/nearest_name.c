/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/nearest_name.h"

#include <string.h>

#define MAX_WORD 63 /* longer words are never option names */

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/*
 * Letters to insert, delete or replace (Levenshtein distance), one row of the table at a time. If
 * the part of b after its last underscore, usually a unit, is missing, that counts as one letter.
 */
static size_t distance(const char *a, const char *b)
{
	size_t row[MAX_WORD + 1];
	size_t length = strlen(b);
	const char *unit = strrchr(b, '_');
	size_t i;
	size_t j;

	if (strlen(a) > MAX_WORD || length > MAX_WORD)
		return MAX_WORD;
	for (j = 0; j <= length; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (j = 0; j < length; j++) {
			size_t above = row[j + 1];

			row[j + 1] = smallest(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	if (unit && row[unit - b] + 1 < row[length])
		return row[unit - b] + 1;
	return row[length];
}

const char *nearest_name(const char *text, const char *const *candidates, size_t count)
{
	const char *best = NULL;
	size_t best_distance = strlen(text) < 3 ? 2 : (strlen(text) + 1) / 3 + 1;
	size_t i;

	for (i = 0; i < count; i++) {
		size_t away = distance(text, candidates[i]);

		if (strlen(text) >= 2 && strncmp(candidates[i], text, strlen(text)) == 0)
			away = 1;
		if (away < best_distance) {
			best = candidates[i];
			best_distance = away;
		}
	}
	return best;
}
