/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/short_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

/* How many bytes of an operator's symbol stand at text: "operator<<" and the like. */
static size_t operator_symbol(const char *text)
{
	static const char word[] = "operator";
	static const char *const symbols[] = {
		"<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">", "[]"};
	size_t i;

	if (strncmp(text, word, sizeof(word) - 1) != 0)
		return 0;
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (strncmp(text + sizeof(word) - 1, symbols[i], strlen(symbols[i])) == 0)
			return sizeof(word) - 1 + strlen(symbols[i]);
	return 0;
}

/* Steps over a bracketed part, brackets in it included; NULL when it never closes. */
static const char *skip_brackets(const char *at, char open, char close)
{
	int depth = 0;

	for (; *at; at++) {
		size_t symbol = operator_symbol(at);

		if (symbol > 0) {
			at += symbol - 1;
			continue;
		}
		if (*at == open)
			depth++;
		else if (*at == close && !(close == '>' && at[-1] == '-') && --depth == 0)
			return at + 1;
	}
	return NULL;
}

char *short_name(const char *name)
{
	struct bytes out = {0};
	const char *at = name;

	if (!strpbrk(name, "<("))
		return NULL;
	while (*at) {
		size_t symbol = operator_symbol(at);
		const char *after = NULL;

		if (symbol > 0) {
			bytes_put(&out, at, symbol);
			at += symbol;
			continue;
		}
		if (*at == '<' && at > name)
			after = skip_brackets(at, '<', '>');
		if (after) {
			bytes_put(&out, "<>", 2);
			at = after;
			continue;
		}
		/* Arguments end the name; "(anonymous namespace)" and lambdas go on. */
		if (*at == '(' && at > name) {
			after = skip_brackets(at, '(', ')');
			if (after && strncmp(at, "(anonymous", 10) != 0 &&
			    strncmp(after, "::", 2) != 0)
				break;
			if (after && strncmp(at, "(anonymous", 10) != 0) {
				at = after;
				continue;
			}
		}
		bytes_put_u8(&out, (uint8_t)*at++);
	}
	bytes_put_u8(&out, '\0');
	if (out.failed) {
		bytes_fini(&out);
		return NULL;
	}
	return (char *)out.data;
}
