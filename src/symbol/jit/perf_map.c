/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit/perf_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "symbol/jit/jit_names.h"

#define MAX_NAME_BYTES 4096u

/* Reads a number and the blank after it. */
static bool take_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *start;
	uint64_t value = 0;

	/* Some runtimes write the prefix. */
	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	for (start = *at; *at < end && number_hex_digit(**at) < 16; (*at)++) {
		if (value >> 60)
			return false;
		value = value << 4 | number_hex_digit(**at);
	}
	if (*at == start || *at == end || **at != ' ')
		return false;
	(*at)++;
	*ret = value;
	return true;
}

/* From when on a line counts that ends at a position: 1 is always, 0 is unknown. */
static uint64_t time_of(uint64_t at, const struct perf_map_mark *marks, size_t count, size_t *mark)
{
	while (*mark < count && marks[*mark].size <= at)
		++*mark;
	return *mark > 0 ? marks[*mark - 1].seen_ns : count > 0;
}

int perf_map_parse(const char *text, size_t size, const struct perf_map_mark *marks, size_t count,
		   struct jit_names *names)
{
	const char *start = text;
	const char *end = text + size;
	const char *line_end;
	size_t mark = 0;

	for (; text < end; text = line_end + 1) {
		struct jit_name name = {0};
		int r;

		line_end = memchr(text, '\n', (size_t)(end - text));
		if (!line_end)
			return 0;
		name.time_ns = time_of((uint64_t)(line_end - start), marks, count, &mark);
		if (!take_hex(&text, line_end, &name.start) ||
		    !take_hex(&text, line_end, &name.size) || text == line_end)
			continue;
		name.text = text;
		name.text_size = (size_t)(line_end - text);
		if (name.text_size > MAX_NAME_BYTES)
			name.text_size = MAX_NAME_BYTES;
		r = jit_names_add(names, &name);
		if (r < 0)
			return r;
	}
	return 0;
}
