/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/selector.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/expression.h"

#define SYNTAX "a selector looks like: service{host=\"web1\", release!=\"1.2\", unit=~\"api.*\"}"

struct parser {
	struct selector *selector;
	const char *text;
	const char *at;
	struct error *err;
};

static int fail(struct parser *parser, const char *expected)
{
	(void)error_set(parser->err, -EINVAL, "selector %.200s: expected %s at character %zu",
			parser->text, expected, (size_t)(parser->at - parser->text) + 1);
	error_remedy(parser->err, SYNTAX);
	return -EINVAL;
}

static const char *keep(struct selector *selector, const char *text, size_t n)
{
	char *place = selector->texts + selector->used;

	if (n + 1 > sizeof(selector->texts) - selector->used)
		return NULL;
	memcpy(place, text, n);
	place[n] = '\0';
	selector->used += n + 1;
	return place;
}

/* Our own name of a label that others call differently. */
static const char *own_name(const char *name)
{
	return strcmp(name, "service_name") == 0 ? "service" : name;
}

static int check_expression(const char *value, struct error *err)
{
	regex_t expression;
	char why[EXPRESSION_REASON];

	if (expression_compile(&expression, value, why) == 0) {
		regfree(&expression);
		return 0;
	}
	(void)error_set(err, -EINVAL, "regular expression %.200s: %s", value, why);
	error_remedy(err, "fix the expression, or compare with =");
	return -EINVAL;
}

int selector_add(struct selector *selector, const char *name, enum store_match_kind kind,
		 const char *value, struct error *err)
{
	const char *own = keep(selector, own_name(name), strlen(own_name(name)));
	const char *text = keep(selector, value, strlen(value));

	if (selector->count >= SELECTOR_MATCHES_MAX || !own || !text) {
		(void)error_set(err, -E2BIG, "the selector is too long");
		error_remedy(err, "use fewer labels, or a regular expression: host=~\"a|b\"");
		return -E2BIG;
	}
	selector->matches[selector->count++] =
		(struct store_match){.name = own, .value = text, .kind = kind};
	return kind == MATCH_REGEX || kind == MATCH_NOT_REGEX ? check_expression(text, err) : 0;
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static int read_name(struct parser *parser, char *ret, size_t size)
{
	size_t n = 0;

	while (isalnum((unsigned char)parser->at[n]) ||
	       (parser->at[n] && strchr("_.-/", parser->at[n])))
		n++;
	if (n == 0 || n >= size)
		return fail(parser, "the name of a label");
	memcpy(ret, parser->at, n);
	ret[n] = '\0';
	parser->at += n;
	skip_blanks(parser);
	return 0;
}

static int read_kind(struct parser *parser, enum store_match_kind *ret)
{
	static const struct {
		const char *text;
		enum store_match_kind kind;
	} kinds[] = {{"=~", MATCH_REGEX},
		     {"!~", MATCH_NOT_REGEX},
		     {"!=", MATCH_NOT_EQUAL},
		     {"=", MATCH_EQUAL}};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].text);

		if (strncmp(parser->at, kinds[i].text, n) == 0) {
			parser->at += n;
			*ret = kinds[i].kind;
			skip_blanks(parser);
			return 0;
		}
	}
	return fail(parser, "=, !=, =~ or !~");
}

static int read_value(struct parser *parser, char *ret, size_t size)
{
	size_t n = 0;

	if (*parser->at != '"')
		return fail(parser, "a value in double quotes");
	for (parser->at++; *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at[1])
			parser->at++;
		if (!*parser->at || n + 1 >= size)
			return fail(parser, "the closing quote");
		ret[n++] = *parser->at;
	}
	ret[n] = '\0';
	parser->at++;
	skip_blanks(parser);
	return 0;
}

static int read_match(struct parser *parser)
{
	char name[256];
	char value[SELECTOR_BYTES_MAX];
	enum store_match_kind kind = MATCH_EQUAL;
	int r = read_name(parser, name, sizeof(name));

	if (r == 0)
		r = read_kind(parser, &kind);
	if (r == 0)
		r = read_value(parser, value, sizeof(value));
	return r < 0 ? r : selector_add(parser->selector, name, kind, value, parser->err);
}

static int read_braces(struct parser *parser)
{
	int r = 0;

	parser->at++;
	skip_blanks(parser);
	while (r == 0 && *parser->at != '}') {
		r = read_match(parser);
		if (r == 0 && *parser->at == ',') {
			parser->at++;
			skip_blanks(parser);
		} else if (r == 0 && *parser->at != '}') {
			r = fail(parser, "a comma or }");
		}
	}
	if (r < 0)
		return r;
	parser->at++;
	skip_blanks(parser);
	return *parser->at ? fail(parser, "the end") : 0;
}

static int read_service(struct parser *parser)
{
	size_t n = strcspn(parser->at, "{");
	char name[SELECTOR_BYTES_MAX];

	while (n > 0 && isspace((unsigned char)parser->at[n - 1]))
		n--;
	if (n == 0)
		return 0;
	memcpy(name, parser->at, n);
	name[n] = '\0';
	if (strpbrk(name, "}\"=,"))
		return fail(parser, "the name of a service");
	parser->at += n;
	skip_blanks(parser);
	return selector_add(parser->selector, "service", MATCH_EQUAL, name, parser->err);
}

int selector_parse(struct selector *selector, const char *text, struct error *err)
{
	struct parser parser = {selector, text, text, err};
	int r;

	selector->count = 0;
	selector->used = 0;
	if (strlen(text) >= SELECTOR_BYTES_MAX) {
		(void)error_set(err, -E2BIG, "the selector is longer than %d characters",
				SELECTOR_BYTES_MAX);
		error_remedy(err, SYNTAX);
		return -E2BIG;
	}
	skip_blanks(&parser);
	r = read_service(&parser);
	return r == 0 && *parser.at == '{' ? read_braces(&parser) : r;
}

const char *selector_value(const struct selector *selector, const char *name)
{
	size_t i;

	for (i = 0; i < selector->count; i++)
		if (selector->matches[i].kind == MATCH_EQUAL &&
		    strcmp(selector->matches[i].name, name) == 0)
			return selector->matches[i].value;
	return NULL;
}
