/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/perf_script_line.h"

#include <string.h>

#include "base/clock.h"
#include "base/number.h"

#define UNKNOWN "[unknown]"
#define INLINED "inlined"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct script_span trim(struct script_span span)
{
	while (span.size > 0 && is_blank(span.text[span.size - 1]))
		span.size--;
	while (span.size > 0 && is_blank(*span.text)) {
		span.text++;
		span.size--;
	}
	return span;
}

static bool equals(struct script_span span, const char *text)
{
	return span.size == strlen(text) && memcmp(span.text, text, span.size) == 0;
}

/* Takes the next word from the rest; empty at the end. */
static struct script_span take_word(struct script_span *left)
{
	struct script_span word;

	*left = trim(*left);
	word = (struct script_span){left->text, 0};
	while (word.size < left->size && !is_blank(left->text[word.size]))
		word.size++;
	left->text += word.size;
	left->size -= word.size;
	return word;
}

/* The whole span must be digits. */
static bool parse_number(struct script_span span, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < span.size; i++) {
		unsigned int digit = (unsigned int)span.text[i] - '0';

		if (digit > 9 || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret = value;
	return span.size > 0;
}

/* A pid or tid. perf prints -1 if it is unknown. */
static bool parse_id(struct script_span span, uint64_t *ret)
{
	*ret = UINT32_MAX;
	return equals(span, "-1") || parse_number(span, UINT32_MAX, ret);
}

/* "24636/25607", or "25607" alone. */
static bool parse_ids(struct script_span word, struct script_event *ret)
{
	const char *slash = memchr(word.text, '/', word.size);
	struct script_span first = {word.text, slash ? (size_t)(slash - word.text) : word.size};
	struct script_span second = {first.text + first.size + 1, word.size - first.size - 1};
	uint64_t pid = 0;
	uint64_t tid;

	if (slash && (!parse_id(first, &pid) || !parse_id(second, &tid)))
		return false;
	if (!slash && !parse_id(word, &tid))
		return false;
	ret->pid = (uint32_t)pid;
	ret->tid = (uint32_t)tid;
	return true;
}

static bool is_cpu(struct script_span word)
{
	uint64_t cpu;

	return word.size > 2 && word.text[0] == '[' && word.text[word.size - 1] == ']' &&
	       parse_number((struct script_span){word.text + 1, word.size - 2}, UINT32_MAX, &cpu);
}

/* "94564.109216:", with 6 or 9 digits after the point. */
static bool parse_time(struct script_span word, struct script_event *ret)
{
	const char *point = memchr(word.text, '.', word.size);
	size_t whole = point ? (size_t)(point - word.text) : 0;
	uint64_t seconds;
	uint64_t fraction;
	size_t digits;

	if (!point || word.text[word.size - 1] != ':' || word.size - whole < 3)
		return false;
	digits = word.size - whole - 2;
	if (digits > 9 ||
	    !parse_number((struct script_span){word.text, whole}, UINT64_MAX / NS_PER_SEC - 1,
			  &seconds) ||
	    !parse_number((struct script_span){point + 1, digits}, NS_PER_SEC, &fraction))
		return false;
	for (; digits < 9; digits++)
		fraction *= 10;
	ret->has_time = true;
	ret->time_ns = seconds * NS_PER_SEC + fraction;
	return true;
}

/* What follows the thread: "[000] 94564.109216: 100 cycles:u: …" */
static bool parse_tail(struct script_span left, bool needs_time, struct script_event *ret)
{
	struct script_span word = take_word(&left);

	ret->has_time = false;
	if (is_cpu(word))
		word = take_word(&left);
	if (word.size > 0 && parse_time(word, ret))
		word = take_word(&left);
	else if (needs_time)
		return false;
	ret->has_period = parse_number(word, INT64_MAX, &ret->period);
	if (ret->has_period)
		word = take_word(&left);
	if (word.size < 2 || word.text[word.size - 1] != ':')
		return false;
	ret->event = (struct script_span){word.text, word.size - 1};
	ret->rest = trim(left);
	return true;
}

/* The comm ends before the first number that is followed by the rest of an event line. */
static bool parse_with(struct script_span line, bool needs_time, struct script_event *ret)
{
	struct script_span left = line;

	(void)take_word(&left); /* a comm has at least one word */
	while (left.size > 0) {
		struct script_span word = take_word(&left);

		if (!parse_ids(word, ret) || !parse_tail(left, needs_time, ret))
			continue;
		ret->comm = trim((struct script_span){line.text, (size_t)(word.text - line.text)});
		return true;
	}
	return false;
}

bool script_event_parse(struct script_span line, struct script_event *ret)
{
	*ret = (struct script_event){0};
	line = trim(line);
	return parse_with(line, true, ret) || parse_with(line, false, ret);
}

/* "main+0x1c" as "main". */
static struct script_span drop_offset(struct script_span symbol)
{
	size_t at = symbol.size;

	while (at > 0 && number_hex_digit(symbol.text[at - 1]) < 16)
		at--;
	if (at > 3 && at < symbol.size && memcmp(symbol.text + at - 3, "+0x", 3) == 0)
		symbol.size = at - 3;
	return symbol;
}

/* The module in brackets at the end, after a blank. Returns false if there is none. */
static bool split_module(struct script_span *text, struct script_span *ret)
{
	size_t at = text->size;

	if (at < 2 || text->text[at - 1] != ')')
		return false;
	while (at > 0 && !(text->text[at - 1] == '(' && (at == 1 || is_blank(text->text[at - 2]))))
		at--;
	if (at == 0)
		return false;
	*ret = (struct script_span){text->text + at, text->size - at - 1};
	*text = trim((struct script_span){text->text, at - 1});
	return true;
}

bool script_frame_parse(struct script_span line, struct script_frame *ret)
{
	struct script_span left = line;
	struct script_span word = take_word(&left);

	*ret = (struct script_frame){0};
	if (word.size == 0 || word.size > 16)
		return false;
	for (size_t i = 0; i < word.size; i++) {
		unsigned int digit = number_hex_digit(word.text[i]);

		if (digit > 15)
			return false;
		ret->address = ret->address << 4 | digit;
	}
	left = trim(left);
	ret->what = left;
	if (left.size == 0)
		return false;
	/* Without a module (-F ip,sym) an event line must not be mistaken for a frame. */
	if (!split_module(&left, &ret->module) && left.text[left.size - 1] == ':')
		return false;
	ret->symbol = drop_offset(left);
	ret->is_inlined = equals(ret->module, INLINED);
	if (ret->is_inlined || equals(ret->module, UNKNOWN))
		ret->module.size = 0;
	if (equals(ret->symbol, UNKNOWN))
		ret->symbol.size = 0;
	return true;
}
