/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "heap/leak/suppressions.h"
#include "model/leak.h"

struct parser {
	struct suppressions *list;
	const char *name; /* of the file */
	const char *at;
	const char *end;
	uint32_t line_number;
	char line[SUPPRESSION_LINE_MAX]; /* without blanks around it */
	suppression_demangle_fn *demangle;
	struct error *err;
};

__attribute__((format(printf, 2, 3))) static int wrong(const struct parser *parser,
						       const char *format, ...)
{
	char words[256];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	(void)error_set(parser->err, -EINVAL, "%s:%u: %s", parser->name, parser->line_number,
			words);
	error_remedy(parser->err, "see docs/user/suppressions.md for the syntax of rules");
	return -EINVAL;
}

static int no_memory(const struct parser *parser)
{
	return error_set(parser->err, -ENOMEM, "%s: no memory for its rules", parser->name);
}

/* The next line that is not blank or a comment. 1, 0 at the end, or negative. */
static int next_line(struct parser *parser)
{
	while (parser->at < parser->end) {
		const char *start = parser->at;
		const char *stop = memchr(start, '\n', (size_t)(parser->end - start));
		size_t size;

		if (!stop)
			stop = parser->end;
		parser->at = stop < parser->end ? stop + 1 : stop;
		parser->line_number++;
		while (start < stop && isspace((unsigned char)*start))
			start++;
		while (stop > start && isspace((unsigned char)stop[-1]))
			stop--;
		size = (size_t)(stop - start);
		if (size == 0 || *start == '#')
			continue;
		if (size >= sizeof(parser->line))
			return wrong(parser, "the line has %zu bytes: the limit is %u", size,
				     SUPPRESSION_LINE_MAX - 1);
		if (memchr(start, 0, size))
			return wrong(parser, "not a text file");
		memcpy(parser->line, start, size);
		parser->line[size] = '\0';
		return 1;
	}
	return 0;
}

static const char *keep(struct parser *parser, const char *text)
{
	return arena_strndup(&parser->list->arena, text, strlen(text));
}

static int begin_rule(struct parser *parser, struct suppression *ret,
		      enum suppression_syntax syntax, const char *name)
{
	char origin[SUPPRESSION_LINE_MAX];

	if (parser->list->rules.count >= SUPPRESSION_RULES_MAX)
		return wrong(parser, "more than %u rules", SUPPRESSION_RULES_MAX);
	(void)snprintf(origin, sizeof(origin), "%s:%u", parser->name, parser->line_number);
	*ret = (struct suppression){.syntax = syntax,
				    .kinds = SUPPRESS_ALL,
				    .name = keep(parser, name),
				    .origin = keep(parser, origin),
				    .first_frame = (uint32_t)parser->list->frames.count,
				    .size_bytes = {0, UINT64_MAX},
				    .time_ns = {0, UINT64_MAX}};
	return ret->name && ret->origin ? 0 : no_memory(parser);
}

static int end_rule(struct parser *parser, struct suppression *rule)
{
	rule->frame_count = (uint32_t)(parser->list->frames.count - rule->first_frame);
	return vec_push(&parser->list->rules, *rule) < 0 ? no_memory(parser) : 0;
}

/*
 * Turns a linker name with * into a pattern of the names in it, in order, with anything between
 * them. Other tools use such patterns, but our stacks have demangled names.
 */
static void pieces_of_linker_name(const char *name, char *ret, size_t size)
{
	size_t used = 0;

	ret[used++] = '*';
	for (name += 2; *name && used + 2 < size;) {
		size_t length = 0;

		if (!isdigit((unsigned char)*name)) {
			name++;
			continue;
		}
		while (isdigit((unsigned char)*name) && length < SUPPRESSION_LINE_MAX)
			length = length * 10 + (size_t)(*name++ - '0');
		for (; length > 0 && *name && *name != '*' && used + 2 < size; length--)
			ret[used++] = *name++;
		if (ret[used - 1] != '*')
			ret[used++] = '*';
	}
	ret[used] = '\0';
}

/* The pattern of a function: a linker name is demangled. NULL: out of memory. */
static const char *function_pattern(struct parser *parser, const char *text)
{
	char pieces[SUPPRESSION_LINE_MAX + 4];
	SCOPED(mem) char *readable = NULL;

	if (strncmp(text, "_Z", 2) != 0 || !parser->demangle)
		return keep(parser, text);
	if (strpbrk(text, "*?")) {
		pieces_of_linker_name(text, pieces, sizeof(pieces));
		return keep(parser, pieces[1] ? pieces : text);
	}
	readable = parser->demangle(text);
	return keep(parser, readable ? readable : text);
}

static int add_frame(struct parser *parser, const struct suppression *rule,
		     struct suppression_frame frame)
{
	if (parser->list->frames.count - rule->first_frame >= SUPPRESSION_FRAMES_MAX)
		return wrong(parser, "the rule has more than %u frames", SUPPRESSION_FRAMES_MAX);
	if (frame.what != SUPPRESS_ANY_FRAMES && !frame.pattern)
		return no_memory(parser);
	return vec_push(&parser->list->frames, frame) < 0 ? no_memory(parser) : 0;
}

/* "path", "path:12", "path:12-20". */
static int parse_file(struct parser *parser, const char *text, struct suppression_frame *ret)
{
	SCOPED(mem) char *path = strdup(text);
	char *colon = path ? strrchr(path, ':') : NULL;
	uint64_t from = 0;
	uint64_t to = 0;

	if (!path)
		return no_memory(parser);
	if (colon) {
		char *dash = strchr(colon + 1, '-');

		*colon = '\0';
		if (dash)
			*dash = '\0';
		if (number_parse_u64(colon + 1, &from) < 0 || from == 0 || from > UINT32_MAX ||
		    (dash && (number_parse_u64(dash + 1, &to) < 0 || to < from || to > UINT32_MAX)))
			return wrong(parser, "\"%s\": expected FILE, FILE:LINE or FILE:FROM-TO",
				     text);
	}
	if (!*path)
		return wrong(parser, "\"%s\": the file name is missing", text);
	*ret = (struct suppression_frame){SUPPRESS_FILE, keep(parser, path), (uint32_t)from,
					  (uint32_t)(to ? to : from)};
	return ret->pattern ? 0 : no_memory(parser);
}

/* Classes by name, separated by commas or blanks; each syntax has its own names. */
struct kind_name {
	const char *name;
	uint32_t kinds;
};

static const struct kind_name valgrind_kinds[] = {
	/* memcheck counts blocks that only freed memory points to as lost. */
	{"definite", 1u << LEAK_DEFINITE | 1u << LEAK_PROBABLE | SUPPRESS_UNSCANNED},
	{"indirect", 1u << LEAK_INDIRECT | SUPPRESS_UNSCANNED},
	{"possible", 1u << LEAK_POSSIBLE | SUPPRESS_UNSCANNED},
	{"reachable", 1u << LEAK_REACHABLE | SUPPRESS_UNSCANNED},
	{"all", SUPPRESS_ALL},
	{NULL, 0},
};

static const struct kind_name own_kinds[] = {
	{"definite", 1u << LEAK_DEFINITE},
	{"indirect", 1u << LEAK_INDIRECT},
	{"probable", 1u << LEAK_PROBABLE},
	{"possible", 1u << LEAK_POSSIBLE},
	{"reachable", 1u << LEAK_REACHABLE},
	{"growth", SUPPRESS_GROWTH},
	{"unscanned", SUPPRESS_UNSCANNED},
	{"all", SUPPRESS_ALL},
	{NULL, 0},
};

static int parse_kinds(struct parser *parser, const char *text, const struct kind_name *names,
		       uint32_t *ret)
{
	uint32_t kinds = 0;

	while (*(text += strspn(text, ", \t"))) {
		size_t size = strcspn(text, ", \t");
		const struct kind_name *known = names;

		while (known->name &&
		       (strlen(known->name) != size || strncmp(known->name, text, size) != 0))
			known++;
		if (!known->name)
			return wrong(parser, "\"%.*s\" is not a leak kind", (int)size, text);
		kinds |= known->kinds;
		text += size;
	}
	if (kinds == 0)
		return wrong(parser, "expected a leak kind");
	*ret = kinds;
	return 0;
}

/* valgrind */

/* "Memcheck:Leak", possibly with other tools. */
static bool is_memcheck_leak(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || strcmp(colon + 1, "Leak") != 0)
		return false;
	for (const char *tool = text; tool < colon; tool += strcspn(tool, ",:") + 1)
		if (strcspn(tool, ",:") == 8 && strncmp(tool, "Memcheck", 8) == 0)
			return true;
	return false;
}

static int valgrind_line(struct parser *parser, struct suppression *rule)
{
	static const char kinds[] = "match-leak-kinds:";
	const char *line = parser->line;
	struct suppression_frame frame = {0};

	if (strncmp(line, kinds, sizeof(kinds) - 1) == 0)
		return parse_kinds(parser, line + sizeof(kinds) - 1, valgrind_kinds, &rule->kinds);
	if (strncmp(line, "fun:", 4) == 0)
		frame = (struct suppression_frame){SUPPRESS_FUNCTION,
						   function_pattern(parser, line + 4), 0, 0};
	else if (strncmp(line, "obj:", 4) == 0)
		frame = (struct suppression_frame){SUPPRESS_MODULE, keep(parser, line + 4), 0, 0};
	else if (strncmp(line, "src:", 4) == 0) {
		int r = parse_file(parser, line + 4, &frame);

		if (r < 0)
			return r;
	} else if (strcmp(line, "...") != 0)
		return wrong(parser, "\"%s\": expected fun:, obj:, src: or ...", line);
	return add_frame(parser, rule, frame);
}

/* The lines after "{". */
static int parse_valgrind(struct parser *parser)
{
	uint32_t began = parser->line_number;
	struct suppression rule;
	bool wanted = false;
	int r = next_line(parser);

	if (r > 0 && strcmp(parser->line, "}") != 0)
		r = begin_rule(parser, &rule, SUPPRESSION_VALGRIND, parser->line);
	else if (r >= 0)
		return wrong(parser, "the rule at line %u has no name", began);
	if (r == 0)
		r = next_line(parser);
	if (r > 0)
		wanted = is_memcheck_leak(parser->line);
	while (r > 0 && strcmp(parser->line, "}") != 0) {
		r = next_line(parser);
		if (r > 0 && wanted && strcmp(parser->line, "}") != 0) {
			r = valgrind_line(parser, &rule);
			r = r < 0 ? r : 1;
		}
	}
	if (r == 0)
		return wrong(parser, "the rule at line %u has no closing }", began);
	if (r < 0)
		return r;
	if (!wanted)
		parser->list->passed_over++;
	return wanted ? end_rule(parser, &rule) : 0;
}

/* Our own */

/* The rest of a line that begins with a word; NULL: it does not. */
static const char *after_word(const char *line, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(line, word, size) != 0 || (line[size] && !isspace((unsigned char)line[size])))
		return NULL;
	line += size;
	return line + strspn(line, " \t");
}

/* "A", "A..B", "A..", "..B". */
static int parse_range(struct parser *parser, const char *text,
		       int (*number)(const char *text, uint64_t *ret),
		       struct suppression_range *ret)
{
	SCOPED(mem) char *copy = strdup(text);
	char *dots = copy ? strstr(copy, "..") : NULL;
	struct suppression_range range = {0, UINT64_MAX};

	if (!copy)
		return no_memory(parser);
	if (dots)
		*dots = '\0';
	if ((*copy && number(copy, &range.from) < 0) || (!*copy && !dots) ||
	    (dots && dots[2] && number(dots + 2, &range.to) < 0) || range.to < range.from)
		return wrong(parser,
			     "\"%s\": expected a range: FROM..TO, FROM.., ..TO or one value", text);
	if (!dots)
		range.to = range.from;
	*ret = range;
	return 0;
}

static int own_frame(struct parser *parser, const struct suppression *rule)
{
	struct suppression_frame frame = {0};
	const char *text;
	int r;

	if ((text = after_word(parser->line, "function")) && *text) {
		frame = (struct suppression_frame){SUPPRESS_FUNCTION,
						   function_pattern(parser, text), 0, 0};
	} else if ((text = after_word(parser->line, "module")) && *text) {
		frame = (struct suppression_frame){SUPPRESS_MODULE, keep(parser, text), 0, 0};
	} else if ((text = after_word(parser->line, "file")) && *text) {
		r = parse_file(parser, text, &frame);
		if (r < 0)
			return r;
	} else if (strcmp(parser->line, "...") != 0) {
		return wrong(parser,
			     "\"%s\": expected kinds, size, time, thread, at, function, module, "
			     "file, ... or end",
			     parser->line);
	}
	return add_frame(parser, rule, frame);
}

static int own_line(struct parser *parser, struct suppression *rule)
{
	const char *text;

	if ((text = after_word(parser->line, "kinds")))
		return parse_kinds(parser, text, own_kinds, &rule->kinds);
	if ((text = after_word(parser->line, "size")))
		return parse_range(parser, text, number_parse_size, &rule->size_bytes);
	if ((text = after_word(parser->line, "time")))
		return parse_range(parser, text, number_parse_duration, &rule->time_ns);
	if ((text = after_word(parser->line, "at")))
		return parse_file(parser, text, &rule->place);
	if ((text = after_word(parser->line, "thread")) && *text) {
		rule->thread = keep(parser, text);
		return rule->thread ? 0 : no_memory(parser);
	}
	return own_frame(parser, rule);
}

static bool has_conditions(const struct parser *parser, const struct suppression *rule)
{
	return parser->list->frames.count > rule->first_frame || rule->place.pattern ||
	       rule->thread || rule->size_bytes.from > 0 || rule->size_bytes.to < UINT64_MAX ||
	       rule->time_ns.from > 0 || rule->time_ns.to < UINT64_MAX;
}

static int parse_own(struct parser *parser, const char *name)
{
	uint32_t began = parser->line_number;
	struct suppression rule;
	int r = begin_rule(parser, &rule, SUPPRESSION_OWN, name);

	while (r == 0) {
		r = next_line(parser);
		if (r == 0)
			return wrong(parser, "the rule at line %u has no end", began);
		if (r > 0 && strcmp(parser->line, "end") == 0)
			break;
		if (r > 0)
			r = own_line(parser, &rule);
	}
	if (r < 0)
		return r;
	if (!has_conditions(parser, &rule))
		return wrong(parser, "the rule at line %u would suppress everything", began);
	return end_rule(parser, &rule);
}

/* LeakSanitizer: "leak:pattern"; other sanitizers use other words. */
static int parse_lsan(struct parser *parser)
{
	const char *pattern = strchr(parser->line, ':') + 1;
	struct suppression rule;
	int r;

	if (strncmp(parser->line, "leak:", 5) != 0) {
		parser->list->passed_over++;
		return 0;
	}
	if (!pattern[strspn(pattern, "*^$")])
		return wrong(parser, "\"%s\" would suppress everything", parser->line);
	r = begin_rule(parser, &rule, SUPPRESSION_LSAN, parser->line);
	if (r == 0)
		r = add_frame(
			parser, &rule,
			(struct suppression_frame){SUPPRESS_FUNCTION, keep(parser, pattern), 0, 0});
	return r < 0 ? r : end_rule(parser, &rule);
}

static bool is_lsan(const char *line)
{
	size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyz_-");

	return word > 0 && line[word] == ':';
}

int suppressions_parse(struct suppressions *list, const char *name, const char *text, size_t size,
		       suppression_demangle_fn *demangle, struct error *err)
{
	struct parser parser = {.list = list,
				.name = name,
				.at = text,
				.end = text + size,
				.demangle = demangle,
				.err = err};
	int r;

	if (size > SUPPRESSION_FILE_MAX)
		return error_advise(
			err,
			error_set(err, -EINVAL,
				  "%s is larger than %u MiB, the limit for suppression rules", name,
				  SUPPRESSION_FILE_MAX >> 20),
			"give a file of suppression rules: wick leaks --gen-suppressions FILE "
			"writes some");
	while ((r = next_line(&parser)) > 0) {
		const char *rule = after_word(parser.line, "rule");

		if (strcmp(parser.line, "{") == 0)
			r = parse_valgrind(&parser);
		else if (rule)
			r = parse_own(&parser, rule);
		else if (is_lsan(parser.line))
			r = parse_lsan(&parser);
		else
			r = wrong(&parser, "\"%.60s\" does not start a rule", parser.line);
		if (r < 0)
			return r;
	}
	return r;
}
