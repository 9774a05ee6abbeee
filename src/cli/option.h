/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTION_H
#define WICK_CLI_OPTION_H

/*
 * option: the table that describes a command's options, and their values. Parsing, help,
 * completion, manual pages and the configuration file all use this table:
 *
 *	static const struct option_spec table[] = {
 *		{"frequency", 'F', OPTION_U64(struct record_options, frequency_hz),
 *		 .argument = "HZ", .min = 10, .max = 10000,
 *		 .key = "sampling.frequency_hz", .help = "samples per second"},
 *		{"rate", 'r', OPTION_ALIAS("frequency")},
 *		{NULL, 'g', OPTION_IGNORED},
 *		{OPTION_GROUP(struct record_options, symbols, symbol_option_table),
 *		 .help = "Symbols"},
 *		OPTION_END,
 *	};
 *
 * Sources may be applied in any order: a value from a weaker source is checked, but never
 * replaces one from a stronger source. This module prints nothing and reads no files.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct error;

enum option_kind {
	OPTION_KIND_END,
	OPTION_KIND_FLAG,     /* bool: --x */
	OPTION_KIND_TOGGLE,   /* bool: --x and --no-x */
	OPTION_KIND_U64,      /* uint64_t */
	OPTION_KIND_DOUBLE,   /* double */
	OPTION_KIND_STRING,   /* const char *, NULL if unset; one of words, if given */
	OPTION_KIND_LIST,     /* struct option_list, repeatable */
	OPTION_KIND_PAIRS,    /* struct option_list of "key=value", repeatable */
	OPTION_KIND_NUMBERS,  /* struct option_numbers: 1,2,3, repeatable */
	OPTION_KIND_ENUM,     /* an enum or unsigned int: index into words */
	OPTION_KIND_DURATION, /* uint64_t nanoseconds */
	OPTION_KIND_SIZE,     /* uint64_t bytes */
	OPTION_KIND_IGNORED,  /* accepted because other tools have it; does nothing */
	OPTION_KIND_ALIAS,    /* another name of the option alias_of */
	OPTION_KIND_GROUP,    /* a nested table under the heading help */
};

/* What completion offers for an option's value or a command's arguments. */
enum option_offer {
	OPTION_OFFER_NONE,
	OPTION_OFFER_FILE,
	OPTION_OFFER_DIRECTORY,
	OPTION_OFFER_PID,
	OPTION_OFFER_PROGRAM,
};

/* Weakest first. */
enum option_source {
	OPTION_FROM_DEFAULT,
	OPTION_FROM_PRESET,
	OPTION_FROM_ENVIRONMENT,
	OPTION_FROM_FILE,
	OPTION_FROM_COMMAND_LINE,
};

struct option_list {
	const char **items;
	size_t count;
};

struct option_numbers {
	uint64_t *items;
	size_t count;
};

struct option_spec {
	const char *name; /* long name without dashes; NULL if there is only a letter */
	char letter;      /* 0 for none */
	enum option_kind kind;
	size_t offset;        /* of the member in the options struct */
	const char *argument; /* what help calls the value; NULL: the words are shown */
	const char *help;     /* one line, lower case, no full stop; for a group: its heading */
	const char *key;      /* in the configuration, "section.name"; NULL: command line only */
	double min;           /* smallest and largest value in the member's unit; */
	double max;           /* 0 and 0: no limit, max 0: only a smallest value */
	const char *off;      /* a word for 0, which is allowed regardless of the range */
	uint64_t bare_ns;     /* duration: the unit of a number without one; 0: seconds */
	const char *const *words; /* enum, string: allowed words, NULL last */
	const char *default_help; /* shown in place of the default value; "": nothing */
	bool more_words;          /* string: the command may allow others too */
	const char *alias_of;
	const struct option_spec *table; /* of a group */
	enum option_offer offer;
	bool hidden; /* from help, completion and manual pages */
};

/* The offset of a member. Does not compile if the member has another type than wanted. */
#define OPTION_OFFSET(type, member, wanted)                                                        \
	(offsetof(type, member) +                                                                  \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), wanted)     \
				 ? 1                                                               \
				 : -1]))
#define OPTION_FLAG(type, member)                                                                  \
	.kind = OPTION_KIND_FLAG, .offset = OPTION_OFFSET(type, member, bool)
#define OPTION_TOGGLE(type, member)                                                                \
	.kind = OPTION_KIND_TOGGLE, .offset = OPTION_OFFSET(type, member, bool)
#define OPTION_U64(type, member)                                                                   \
	.kind = OPTION_KIND_U64, .offset = OPTION_OFFSET(type, member, uint64_t)
#define OPTION_DOUBLE(type, member)                                                                \
	.kind = OPTION_KIND_DOUBLE, .offset = OPTION_OFFSET(type, member, double)
#define OPTION_STRING(type, member)                                                                \
	.kind = OPTION_KIND_STRING, .offset = OPTION_OFFSET(type, member, const char *)
#define OPTION_WORD(type, member, ...)                                                             \
	OPTION_STRING(type, member), .words = (const char *const[])                                \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define OPTION_LIST(type, member)                                                                  \
	.kind = OPTION_KIND_LIST, .offset = OPTION_OFFSET(type, member, struct option_list)
#define OPTION_PAIRS(type, member)                                                                 \
	.kind = OPTION_KIND_PAIRS, .offset = OPTION_OFFSET(type, member, struct option_list)
#define OPTION_NUMBERS(type, member)                                                               \
	.kind = OPTION_KIND_NUMBERS, .offset = OPTION_OFFSET(type, member, struct option_numbers)
#define OPTION_DURATION(type, member)                                                              \
	.kind = OPTION_KIND_DURATION, .offset = OPTION_OFFSET(type, member, uint64_t)
#define OPTION_SIZE(type, member)                                                                  \
	.kind = OPTION_KIND_SIZE, .offset = OPTION_OFFSET(type, member, uint64_t)
#define OPTION_ENUM(type, member, ...)                                                             \
	.kind = OPTION_KIND_ENUM,                                                                  \
	.offset = offsetof(type, member) +                                                         \
		  0 * sizeof(char[sizeof(((type *)0)->member) == sizeof(unsigned int) ? 1 : -1]),  \
	.words = (const char *const[])                                                             \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define OPTION_IGNORED .kind = OPTION_KIND_IGNORED, .hidden = true
#define OPTION_ALIAS(of) .kind = OPTION_KIND_ALIAS, .alias_of = (of), .hidden = true
#define OPTION_GROUP(type, member, nested)                                                         \
	.kind = OPTION_KIND_GROUP, .offset = offsetof(type, member), .table = (nested)
#define OPTION_END                                                                                 \
	{                                                                                          \
		.kind = OPTION_KIND_END                                                            \
	}

/* One option of a set, with groups resolved; place is the address of its value. */
struct option_entry {
	const struct option_spec *spec;
	void *place;
	const char *group; /* heading; NULL for the command's own options */
	enum option_source source;
	const char *origin; /* "wick.json:3", "WICK_…"; NULL for defaults and the command line */
};

struct option_set {
	const char *command; /* for "see wick COMMAND --help"; NULL: "see wick --help" */
	struct option_entry *entries;
	size_t count;
	size_t capacity;
	struct arena arena; /* owns the strings and lists in the values */
};

/* A set that is all zeros but for .command is ready for option_set_add(). */
void option_set_fini(struct option_set *set);

/* Adds the options of table. Their values are members of values, which must outlive set. */
int option_set_add(struct option_set *set, const struct option_spec *table, void *values,
		   const char *group, struct error *err);

/* NULL if there is no such option; aliases are resolved. */
struct option_entry *option_set_find(const struct option_set *set, const char *name);
struct option_entry *option_set_find_key(const struct option_set *set, const char *key);

/* Where the value of a member came from: option_source_of(set, &options->frequency_hz). */
enum option_source option_source_of(const struct option_set *set, const void *member);
const char *option_source_name(enum option_source source);

/*
 * Parses argv[0..argc) (without the command's name), moves the arguments that are not options to
 * its front, with NULL after them, and returns how many there are. With stop_early, the first of
 * them ends the options: it is a program to run.
 */
int option_parse(struct option_set *set, int argc, char **argv, bool stop_early, struct error *err);

#endif
