/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/vec.h"

/* A value that was checked but not stored yet. */
struct value {
	bool flag;
	unsigned int word;
	uint64_t number;
	double real;
	const char *text;
};

bool option_takes_value(const struct option_spec *spec)
{
	return spec->kind != OPTION_KIND_FLAG && spec->kind != OPTION_KIND_TOGGLE &&
	       spec->kind != OPTION_KIND_IGNORED;
}

bool option_is_repeatable(const struct option_spec *spec)
{
	return spec->kind == OPTION_KIND_LIST || spec->kind == OPTION_KIND_PAIRS ||
	       spec->kind == OPTION_KIND_NUMBERS;
}

/* The largest unit that divides the value without remainder, so that 3600 s is shown as 1h. */
static void put_scaled(struct bytes *out, uint64_t value, const char *const *names,
		       const uint64_t *factors, size_t n)
{
	size_t i = 0;

	while (i + 1 < n && (value == 0 || value % factors[i] != 0))
		i++;
	bytes_printf(out, "%" PRIu64 "%s", value / factors[i], names[i]);
}

static void put_duration(struct bytes *out, uint64_t ns)
{
	static const char *const names[] = {"h", "m", "s", "ms", "us", "ns"};
	static const uint64_t factors[] = {3600 * NS_PER_SEC, 60 * NS_PER_SEC, NS_PER_SEC,
					   NS_PER_MS,         NS_PER_US,       1};

	if (ns == 0)
		bytes_printf(out, "0s");
	else
		put_scaled(out, ns, names, factors, ARRAY_SIZE(names));
}

static void put_size(struct bytes *out, uint64_t size)
{
	static const char *const names[] = {"G", "M", "K", ""};
	static const uint64_t factors[] = {1u << 30, 1u << 20, 1u << 10, 1};

	put_scaled(out, size, names, factors, ARRAY_SIZE(names));
}

static void put_number(struct bytes *out, const struct option_spec *spec, double number)
{
	if (spec->kind == OPTION_KIND_DURATION)
		put_duration(out, (uint64_t)number);
	else if (spec->kind == OPTION_KIND_SIZE)
		put_size(out, (uint64_t)number);
	else
		bytes_printf(out, "%.10g", number);
}

bool option_put_range(struct bytes *out, const struct option_spec *spec)
{
	if (spec->min == 0 && spec->max == 0)
		return false;
	if (spec->max == 0)
		bytes_printf(out, "at least ");
	put_number(out, spec, spec->min);
	if (spec->max != 0) {
		bytes_printf(out, " to ");
		put_number(out, spec, spec->max);
	}
	if (spec->off)
		bytes_printf(out, ", or %s", spec->off);
	return true;
}

void option_put_words(struct bytes *out, const struct option_spec *spec, const char *separator)
{
	size_t i;

	for (i = 0; spec->words && spec->words[i]; i++)
		bytes_printf(out, "%s%s", i > 0 ? separator : "", spec->words[i]);
}

static void put_list(struct bytes *out, const struct option_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		bytes_printf(out, "%s%s", i > 0 ? "," : "", list->items[i]);
}

static void put_numbers(struct bytes *out, const struct option_numbers *numbers)
{
	size_t i;

	for (i = 0; i < numbers->count; i++)
		bytes_printf(out, "%s%" PRIu64, i > 0 ? "," : "", numbers->items[i]);
}

void option_put_value(struct bytes *out, const struct option_entry *entry)
{
	const struct option_spec *spec = entry->spec;
	uint64_t number;

	switch (spec->kind) {
	case OPTION_KIND_FLAG:
	case OPTION_KIND_TOGGLE:
		bytes_printf(out, *(const bool *)entry->place ? "yes" : "no");
		break;
	case OPTION_KIND_DOUBLE:
		if (*(const double *)entry->place == 0 && spec->off)
			bytes_printf(out, "%s", spec->off);
		else
			bytes_printf(out, "%.10g", *(const double *)entry->place);
		break;
	case OPTION_KIND_U64:
	case OPTION_KIND_DURATION:
	case OPTION_KIND_SIZE:
		number = *(const uint64_t *)entry->place;
		if (number == 0 && spec->off)
			bytes_printf(out, "%s", spec->off);
		else if (spec->kind == OPTION_KIND_DURATION && number != UINT64_MAX)
			put_duration(out, number);
		else if (spec->kind == OPTION_KIND_SIZE && number != UINT64_MAX)
			put_size(out, number);
		else if (number != UINT64_MAX)
			bytes_printf(out, "%" PRIu64, number);
		break;
	case OPTION_KIND_STRING:
		if (*(const char *const *)entry->place)
			bytes_printf(out, "%s", *(const char *const *)entry->place);
		break;
	case OPTION_KIND_ENUM:
		bytes_printf(out, "%s", spec->words[*(const unsigned int *)entry->place]);
		break;
	case OPTION_KIND_LIST:
	case OPTION_KIND_PAIRS:
		put_list(out, entry->place);
		break;
	case OPTION_KIND_NUMBERS:
		put_numbers(out, entry->place);
		break;
	case OPTION_KIND_END:
	case OPTION_KIND_IGNORED:
	case OPTION_KIND_ALIAS:
	case OPTION_KIND_GROUP:
		break;
	}
}

const char *option_shorten(const char *text, char ret[OPTION_SHOWN_BYTES])
{
	size_t at = OPTION_SHOWN_BYTES - sizeof("…");

	(void)snprintf(ret, OPTION_SHOWN_BYTES, "%s", text);
	if (strlen(text) < OPTION_SHOWN_BYTES)
		return ret;
	while (at > 0 && ((unsigned char)ret[at] & 0xc0) == 0x80)
		at--; /* does not split a character */
	(void)memcpy(ret + at, "…", sizeof("…"));
	return ret;
}

/* "--frequency abc is not a whole number (10 to 10000)" */
static int refuse(const struct option_spec *spec, const char *text, const char *subject,
		  const char *complaint, struct error *err)
{
	char value[OPTION_SHOWN_BYTES];
	struct bytes range = {0};
	int r;

	(void)option_shorten(text, value);
	if (option_put_range(&range, spec) && !range.failed)
		r = error_set(err, -EINVAL, "%s %s %s (%.*s)", subject, value, complaint,
			      (int)range.size, (const char *)range.data);
	else
		r = error_set(err, -EINVAL, "%s %s %s", subject, value, complaint);
	bytes_fini(&range);
	return r;
}

static bool is_bare(const char *text)
{
	return text[strspn(text, "0123456789.")] == '\0';
}

static int parse_duration(const struct option_spec *spec, const char *text, uint64_t *ret)
{
	double number;
	int r;

	if (spec->bare_ns == 0 || !is_bare(text))
		return number_parse_duration(text, ret);
	r = number_parse_double(text, &number);
	if (r < 0)
		return r;
	number *= (double)spec->bare_ns;
	if (number >= 18446744073709551615.0) /* 2^64 */
		return -ERANGE;
	*ret = (uint64_t)llround(number);
	return 0;
}

static int parse_number(const struct option_spec *spec, const char *text, const char *subject,
			struct value *ret, struct error *err)
{
	const char *complaint = "is not a whole number";
	double number;
	int r;

	if (spec->off && strcmp(text, spec->off) == 0)
		return 0; /* ret is zeroed */
	if (spec->kind == OPTION_KIND_DOUBLE) {
		complaint = "is not a number";
		r = number_parse_double(text, &ret->real);
	} else if (spec->kind == OPTION_KIND_DURATION) {
		complaint = "is not a duration such as 2s, 1.5s, 20ms or 3m";
		r = parse_duration(spec, text, &ret->number);
	} else if (spec->kind == OPTION_KIND_SIZE) {
		complaint = "is not a size such as 4096, 64K, 10M or 2G";
		r = number_parse_size(text, &ret->number);
	} else {
		r = number_parse_u64(text, &ret->number);
	}
	if (r == -EINVAL && text[0] == '-' && is_bare(text + 1) && text[1])
		r = -ERANGE; /* a number, but below zero */
	if (r == -EINVAL)
		return refuse(spec, text, subject, complaint, err);
	number = spec->kind == OPTION_KIND_DOUBLE ? ret->real : (double)ret->number;
	if (r == -ERANGE && text[0] == '-' && spec->min == 0 && spec->max == 0)
		return refuse(spec, text, subject, "is below 0", err);
	if (r < 0 || number < spec->min || (spec->max != 0 && number > spec->max))
		return refuse(spec, text, subject, "is out of range", err);
	return 0;
}

static int parse_word(const struct option_spec *spec, const char *text, const char *subject,
		      struct value *ret, struct error *err)
{
	char value[OPTION_SHOWN_BYTES];
	struct bytes words = {0};
	int r;

	for (ret->word = 0; spec->words[ret->word]; ret->word++) {
		if (strcmp(spec->words[ret->word], text) == 0)
			return 0;
	}
	option_put_words(&words, spec, ", ");
	r = error_set(err, -EINVAL, "%s %s is not one of %.*s", subject,
		      option_shorten(text, value), (int)words.size,
		      words.data ? (const char *)words.data : "");
	bytes_fini(&words);
	return r;
}

static int parse_flag(const struct option_spec *spec, const char *text, const char *subject,
		      struct value *ret, struct error *err)
{
	static const char *const yes[] = {"1", "true", "yes", "on"};
	static const char *const no[] = {"0", "false", "no", "off"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yes); i++) {
		ret->flag = strcasecmp(text, yes[i]) == 0;
		if (ret->flag || strcasecmp(text, no[i]) == 0)
			return 0;
	}
	return refuse(spec, text, subject, "is neither true nor false", err);
}

static int parse_value(const struct option_spec *spec, const char *text, const char *subject,
		       struct value *ret, struct error *err)
{
	*ret = (struct value){.text = text};
	switch (spec->kind) {
	case OPTION_KIND_FLAG:
	case OPTION_KIND_TOGGLE:
		return parse_flag(spec, text, subject, ret, err);
	case OPTION_KIND_U64:
	case OPTION_KIND_NUMBERS:
	case OPTION_KIND_DOUBLE:
	case OPTION_KIND_DURATION:
	case OPTION_KIND_SIZE:
		return parse_number(spec, text, subject, ret, err);
	case OPTION_KIND_ENUM:
		return parse_word(spec, text, subject, ret, err);
	case OPTION_KIND_PAIRS:
		if (text[0] == '=' || !strchr(text, '='))
			return refuse(spec, text, subject, "is not of the form KEY=VALUE", err);
		return 0;
	case OPTION_KIND_STRING:
		return spec->words && !spec->more_words ? parse_word(spec, text, subject, ret, err)
							: 0;
	case OPTION_KIND_LIST:
	case OPTION_KIND_END:
	case OPTION_KIND_IGNORED:
	case OPTION_KIND_ALIAS:
	case OPTION_KIND_GROUP:
		break;
	}
	return 0;
}

/*
 * Makes room for one more item of an array in the arena: if the array is full, copies it to one of
 * the next power of two. Lists are short, so the memory of the old array does not matter.
 */
static void *grow(struct arena *arena, const void *items, size_t count, size_t item_bytes)
{
	void *wider;

	if (count > 0 && (count & (count - 1)) != 0)
		return (void *)(uintptr_t)items;
	wider = arena_alloc(arena, (count == 0 ? 1 : 2 * count) * item_bytes);
	if (wider && count > 0)
		memcpy(wider, items, count * item_bytes);
	return wider;
}

static int append_text(struct arena *arena, struct option_list *list, const char *text)
{
	const char **items = grow(arena, list->items, list->count, sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	items[list->count] = arena_strndup(arena, text, strlen(text));
	return items[list->count++] ? 0 : -ENOMEM;
}

static int append_number(struct arena *arena, struct option_numbers *numbers, uint64_t number)
{
	uint64_t *items = grow(arena, numbers->items, numbers->count, sizeof(*items));

	if (!items)
		return -ENOMEM;
	numbers->items = items;
	items[numbers->count++] = number;
	return 0;
}

static int store(struct arena *arena, const struct option_entry *entry, const struct value *value)
{
	switch (entry->spec->kind) {
	case OPTION_KIND_FLAG:
	case OPTION_KIND_TOGGLE:
		*(bool *)entry->place = value->flag;
		return 0;
	case OPTION_KIND_U64:
	case OPTION_KIND_DURATION:
	case OPTION_KIND_SIZE:
		*(uint64_t *)entry->place = value->number;
		return 0;
	case OPTION_KIND_DOUBLE:
		*(double *)entry->place = value->real;
		return 0;
	case OPTION_KIND_ENUM:
		*(unsigned int *)entry->place = value->word;
		return 0;
	case OPTION_KIND_STRING:
		*(char **)entry->place = arena_strndup(arena, value->text, strlen(value->text));
		return *(char **)entry->place ? 0 : -ENOMEM;
	case OPTION_KIND_LIST:
	case OPTION_KIND_PAIRS:
		return append_text(arena, entry->place, value->text);
	case OPTION_KIND_NUMBERS:
		return append_number(arena, entry->place, value->number);
	case OPTION_KIND_END:
	case OPTION_KIND_IGNORED:
	case OPTION_KIND_ALIAS:
	case OPTION_KIND_GROUP:
		break;
	}
	return 0;
}

/* A stronger source replaces a list instead of adding to it. */
static void forget(struct option_entry *entry)
{
	if (entry->spec->kind == OPTION_KIND_NUMBERS)
		*(struct option_numbers *)entry->place = (struct option_numbers){0};
	else if (option_is_repeatable(entry->spec))
		*(struct option_list *)entry->place = (struct option_list){0};
}

static int assign_one(struct option_set *set, struct option_entry *entry, const char *text,
		      const struct option_assignment *how, struct error *err)
{
	struct value value;
	int r;

	r = parse_value(entry->spec, text, how->subject, &value, err);
	if (r < 0)
		return r;
	if (how->source < entry->source)
		return 0;
	if (how->source > entry->source)
		forget(entry);
	entry->source = how->source;
	entry->origin = NULL;
	if (how->origin) {
		entry->origin = arena_strndup(&set->arena, how->origin, strlen(how->origin));
		if (!entry->origin)
			return error_set(err, -ENOMEM, "out of memory");
	}
	r = store(&set->arena, entry, &value);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return 0;
}

int option_assign(struct option_set *set, struct option_entry *entry, const char *text,
		  const struct option_assignment *how, struct error *err)
{
	SCOPED(mem) char *copy = NULL;
	char *rest;
	char *one;
	int r;

	if (entry->spec->kind != OPTION_KIND_NUMBERS)
		return assign_one(set, entry, text, how, err);
	copy = strdup(text);
	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	for (rest = copy; (one = strsep(&rest, ",")) != NULL;) {
		r = assign_one(set, entry, one, how, err);
		if (r < 0)
			return r;
	}
	return 0;
}
