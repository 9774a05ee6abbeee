/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "cfi/compile.h"

/* The largest programs have half a million rows; these limits bound the cost of a hostile file. */
#define MAX_ROWS (1u << 24)
#define MAX_FUNCTIONS (1u << 23)
#define MAX_RULES (1u << 16)

#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)

int rows_init(struct rows *rows)
{
	*rows = (struct rows){0};
	return vec_push(&rows->rules, (struct unwind_rule){0});
}

void rows_fini(struct rows *rows)
{
	vec_fini(&rows->rules);
	vec_fini(&rows->rows);
	vec_fini(&rows->functions);
	id_index_fini(&rows->rule_index);
}

int rows_reserve(struct rows *rows, size_t cfi_bytes)
{
	/* What compilers emit: a function needs at least 32 bytes, a row 5 with repair. */
	if (vec_reserve(&rows->functions, rows->functions.count + cfi_bytes / 32) < 0)
		return -ENOMEM;
	return vec_reserve(&rows->rows, rows->rows.count + cfi_bytes / 4);
}

int rows_begin(struct rows *rows, uint32_t start, uint32_t end, bool is_weak)
{
	if (rows->functions.count >= MAX_FUNCTIONS)
		return -E2BIG;
	return vec_push(&rows->functions,
			(struct rows_function){.start = start,
					       .end = end,
					       .first_row = (uint32_t)rows->rows.count,
					       .is_weak = is_weak});
}

void rows_cancel(struct rows *rows)
{
	rows->functions.count--;
	rows->rows.count = rows->functions.items[rows->functions.count].first_row;
}

/* A rule as integers, which compare and hash faster than bytes; it has no padding. */
struct rule_words {
	uint64_t low;
	uint64_t middle;
	uint32_t high;
};

static struct rule_words words_of(const struct unwind_rule *rule)
{
	const uint8_t *bytes = (const uint8_t *)rule;
	struct rule_words words;

	memcpy(&words.low, bytes, sizeof(words.low));
	memcpy(&words.middle, bytes + 8, sizeof(words.middle));
	memcpy(&words.high, bytes + 16, sizeof(words.high));
	return words;
}

static uint64_t hash_rule(const struct unwind_rule *rule)
{
	struct rule_words words = words_of(rule);

	return hash_pair(words.low + ((uint64_t)words.high << 40), words.middle);
}

/* Rules of one file differ in few bits; two multiplications spread them well enough. */
static uint32_t quick_hash(const struct unwind_rule *rule)
{
	struct rule_words words = words_of(rule);
	uint64_t mixed =
		(words.low + words.high) * 0x9e3779b97f4a7c15u + words.middle * 0xc2b2ae3d27d4eb4fu;

	return (uint32_t)(mixed >> 52) % ROWS_RECENT;
}

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	struct rule_words left = words_of(a);
	struct rule_words right = words_of(b);

	return ((left.low ^ right.low) | (left.middle ^ right.middle)) == 0 &&
	       left.high == right.high;
}

int rows_intern(struct rows *rows, const struct unwind_rule *rule)
{
	struct id_probe probe;
	uint16_t *recent;
	uint64_t hash;
	uint32_t id;

	if (rule->cfa == UNWIND_CFA_NONE)
		return 0;
	recent = &rows->recent[quick_hash(rule)];
	if (same_rule(&rows->rules.items[*recent], rule))
		return *recent;
	hash = hash_rule(rule);
	probe = id_index_probe(&rows->rule_index, hash);
	while ((id = id_probe_next(&rows->rule_index, &probe)) != ID_NONE) {
		if (same_rule(&rows->rules.items[id], rule)) {
			*recent = (uint16_t)id;
			return (int)id;
		}
	}
	id = (uint32_t)rows->rules.count;
	if (id >= MAX_RULES) {
		rows->lost_rules++;
		return 0;
	}
	if (vec_push(&rows->rules, *rule) < 0 || id_index_add(&rows->rule_index, hash, id) < 0)
		return -ENOMEM;
	*recent = (uint16_t)id;
	return (int)id;
}

int rows_add(struct rows *rows, uint32_t pc, const struct unwind_rule *rule)
{
	struct rows_function *function = &rows->functions.items[rows->functions.count - 1];
	int number = rows_intern(rows, rule);

	if (number < 0)
		return number;
	if (function->row_count > 0 && rows->rows.items[rows->rows.count - 1].rule == number)
		return 0;
	if (rows->rows.count >= MAX_ROWS)
		return -E2BIG;
	if (vec_push(&rows->rows, (struct unwind_row){.pc = pc, .rule = (uint16_t)number}) < 0)
		return -ENOMEM;
	function->row_count++;
	return 0;
}

static bool is_sorted(const struct rows_function *functions, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (functions[i].start < functions[i - 1].start)
			return false;
	return true;
}

/* One pass of a radix sort: stable, by RADIX_BITS bits of the start. */
static void radix_pass(const struct rows_function *from, struct rows_function *to, size_t count,
		       unsigned int shift)
{
	uint32_t places[RADIX_SIZE] = {0};
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].start >> shift & (RADIX_SIZE - 1)]++;
	for (size_t i = 0; i < RADIX_SIZE; i++) {
		uint32_t n = places[i];

		places[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].start >> shift & (RADIX_SIZE - 1)]++] = from[i];
}

static int sort_functions(struct rows *rows)
{
	struct rows_function *from = rows->functions.items;
	size_t count = rows->functions.count;

	if (is_sorted(from, count))
		return 0;
	SCOPED(mem) struct rows_function *spare = calloc(count, sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	radix_pass(from, spare, count, 0);
	radix_pass(spare, from, count, RADIX_BITS);
	radix_pass(from, spare, count, 2 * RADIX_BITS);
	memcpy(from, spare, count * sizeof(*from));
	return 0;
}

int rows_sort(struct rows *rows)
{
	struct rows_function *functions = rows->functions.items;
	size_t kept = 0;
	int r = sort_functions(rows);

	if (r < 0)
		return r;
	for (size_t i = 0; i < rows->functions.count; i++) {
		struct rows_function *last = kept > 0 ? &functions[kept - 1] : NULL;

		if (last && functions[i].start == last->start)
			continue;
		if (last && functions[i].start < last->end) {
			if (functions[i].is_weak && !last->is_weak)
				continue;
			last->end = functions[i].start;
		}
		functions[kept++] = functions[i];
	}
	rows->functions.count = kept;
	return 0;
}

struct layout {
	struct unwind_row *rows;
	uint32_t count;
};

static void put_row(struct layout *layout, uint32_t pc, uint16_t rule)
{
	if (layout->count > 0 && layout->rows[layout->count - 1].rule == rule)
		return;
	layout->rows[layout->count++] = (struct unwind_row){.pc = pc, .rule = rule};
}

static void put_function(struct layout *layout, const struct rows *rows,
			 const struct rows_function *function)
{
	const struct unwind_row *row = &rows->rows.items[function->first_row];

	for (uint32_t i = 0; i < function->row_count && row[i].pc < function->end; i++)
		put_row(layout, row[i].pc, row[i].rule);
}

int rows_finish(struct rows *rows, uint64_t base, uint16_t machine, struct cfi_table *ret)
{
	const struct rows_function *functions = rows->functions.items;
	size_t count = rows->functions.count;
	size_t rules_bytes = rows->rules.count * sizeof(struct unwind_rule);
	/* A function adds at most one row: for the gap after it. */
	SCOPED(mem)
	struct unwind_row *memory =
		malloc((rows->rows.count + count) * sizeof(*memory) + rules_bytes);
	struct layout layout = {.rows = memory};
	struct unwind_row *smaller;

	if (!memory)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		put_function(&layout, rows, &functions[i]);
		if (i + 1 == count || functions[i + 1].start - functions[i].end >= ROWS_MIN_GAP)
			put_row(&layout, functions[i].end, 0);
	}
	memcpy(memory + layout.count, rows->rules.items, rules_bytes);
	smaller = realloc(memory, layout.count * sizeof(*memory) + rules_bytes);
	if (smaller)
		memory = smaller;
	*ret = (struct cfi_table){
		.table = {.rows = memory,
			  .rules = (const struct unwind_rule *)(memory + layout.count),
			  .row_count = layout.count,
			  .rule_count = (uint32_t)rows->rules.count,
			  .base = base,
			  .machine = machine},
	};
	ret->memory = scope_take(&memory);
	return 0;
}
