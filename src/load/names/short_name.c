/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

/* The length of an operator symbol at `text`, as in "operator<<". */
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

/* Skips a bracketed part with nested brackets; NULL if it is never closed. */
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

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Qualifiers that may occur between the arguments of a function and "::" of a local name. */
static const char *skip_qualifiers(const char *at)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(at, words[i], strlen(words[i])) != 0)
			continue;
		at += strlen(words[i]);
		i = (size_t)-1; /* start again with the first */
	}
	return at;
}

static bool ends_with(const struct bytes *out, const char *word)
{
	size_t n = strlen(word);

	return out->size >= n && memcmp(out->data + out->size - n, word, n) == 0;
}

/* Whether the text so far can be followed by arguments: Go's main.(*Server).Serve has none. */
static bool can_be_called(const struct bytes *out)
{
	char last = out->size > 0 ? (char)out->data[out->size - 1] : '.';

	return !strchr(". ~:,;", last) || ends_with(out, "operator~") ||
	       ends_with(out, "operator,");
}

/*
 * Handles a "(" at `at`. Returns where to continue, NULL at the arguments that end the name, or
 * `at` itself to copy the bracket. Languages other than C++ use brackets differently: what is not
 * known to be arguments is kept.
 */
static const char *step_over_arguments(const struct bytes *out, const char *at, int braces)
{
	const char *after = skip_brackets(at, '(', ')');

	if (!after || out->size == 0 || strncmp(at, "(anonymous", 10) == 0)
		return at;
	if (braces > 0 || ends_with(out, "decltype") || ends_with(out, "decltype "))
		return after; /* "{lambda(int)#1}", "decltype(auto) f" */
	if (ends_with(out, "!"))
		return after; /* template parameters in D */
	if (!can_be_called(out))
		return at;
	after = skip_qualifiers(after);
	if (strncmp(after, "::", 2) == 0)
		return after; /* a name local to a function */
	return *after == '\0' || strncmp(after, " [", 2) == 0 ? NULL : at;
}

/* Whether the text before `at` is an operator: "operator()" of a functor, "operator==". */
static bool is_after_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t n = sizeof(word) - 1;

	while (at > name && strchr("()[]=!+-*/%^&|~,", at[-1]))
		at--;
	return (size_t)(at - name) >= n && memcmp(at - n, word, n) == 0 &&
	       ((size_t)(at - name) == n || !is_word(*(at - n - 1)));
}

/* Whether template parameters begin: not "<stdin>", nor the type in str::<impl str>::trim. */
static bool is_template(const char *name, const char *at)
{
	if (at == name || !skip_brackets(at, '<', '>') || strncmp(at, "<impl ", 6) == 0)
		return false;
	return is_word(at[-1]) || at[-1] == ':' || at[-1] == '>' || at[-1] == '}' ||
	       (at[-1] == ' ' && at - name > 1 && strchr("<>=", at[-2])) ||
	       is_after_operator(name, at);
}

/* Appends the short form. Returns false for names without one. */
static bool put_short(struct bytes *out, const char *name)
{
	const char *at = name;
	int braces = 0;

	while (*at) {
		size_t symbol = at == name || !is_word(at[-1]) ? operator_symbol(at) : 0;
		const char *after = at;

		if (symbol > 0) {
			bytes_put(out, at, symbol);
			at += symbol;
			continue;
		}
		if (*at == '(' && at > name && at[-1] == ' ' && at[1] == '*')
			return false; /* a function that returns a pointer to one */
		if (*at == '(')
			after = step_over_arguments(out, at, braces);
		else if (*at == '<' && is_template(name, at))
			after = skip_brackets(at, '<', '>');
		if (!after)
			return true;
		if (*at == '<' && after > at)
			bytes_put(out, "<>", 2);
		braces += (*at == '{') - (*at == '}');
		if (after == at)
			bytes_put_u8(out, (uint8_t)*at++);
		else
			at = after;
	}
	return true;
}

char *short_name(const char *name)
{
	struct bytes out = {0};

	/* In Python names the bracketed part is the function: py::<lambda>:FILE. */
	if (!strpbrk(name, "<(") || strncmp(name, "py::", 4) == 0)
		return NULL;
	if (!put_short(&out, name) || out.size == 0) {
		bytes_fini(&out);
		return NULL;
	}
	bytes_put_u8(&out, '\0');
	if (out.failed) {
		bytes_fini(&out);
		return NULL;
	}
	return (char *)out.data;
}
