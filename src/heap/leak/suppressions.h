/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_SUPPRESSIONS_H
#define WICK_HEAP_LEAK_SUPPRESSIONS_H

/*
 * suppressions: rules for leaks that are not to be reported.
 *
 * A file may mix three syntaxes (docs/user/suppressions.md): those of LeakSanitizer, of valgrind,
 * and our own. Rules for other tools are skipped and counted.
 *
 * Input is not trusted: files, lines, rules and patterns have limits, and matching takes at most
 * the length of the pattern times that of the text. Knows nothing about profiles.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct error;

#define SUPPRESSION_FILE_MAX (4u << 20) /* bytes */
#define SUPPRESSION_LINE_MAX 4096u
#define SUPPRESSION_RULES_MAX 10000u
#define SUPPRESSION_FRAMES_MAX 512u /* limit per rule */

/* Bits 0 to 4 are those of enum leak_class. */
#define SUPPRESS_GROWTH 32u    /* grows without bound */
#define SUPPRESS_UNSCANNED 64u /* not freed, and no scan looked for pointers to it */
#define SUPPRESS_ALL 127u

enum suppression_syntax { SUPPRESSION_OWN, SUPPRESSION_LSAN, SUPPRESSION_VALGRIND };

/* What a line of a rule matches. */
enum suppression_what {
	SUPPRESS_ANY_FRAMES, /* "...": any number of frames, including none */
	SUPPRESS_FUNCTION,
	SUPPRESS_MODULE,
	SUPPRESS_FILE, /* the whole path, or its end */
};

struct suppression_frame {
	enum suppression_what what;
	const char *pattern; /* with * and ? */
	uint32_t from_line;  /* 0: any */
	uint32_t to_line;
};

struct suppression_range {
	uint64_t from;
	uint64_t to; /* inclusive */
};

struct suppression {
	const char *name;
	const char *origin; /* "file:line" */
	enum suppression_syntax syntax;
	uint32_t kinds; /* bits: 1 << class, SUPPRESS_… */
	uint32_t first_frame;
	uint32_t frame_count;
	struct suppression_frame place; /* allocation site; .pattern NULL: any */
	struct suppression_range size_bytes;
	struct suppression_range time_ns; /* since the start of the recording */
	const char *thread;               /* pattern of its name; NULL: any */
};

/* All zero is an empty list. */
struct suppressions {
	VEC(struct suppression) rules;
	VEC(struct suppression_frame) frames;
	uint64_t passed_over; /* rules for other tools or other errors */
	struct arena arena;   /* owns texts */
};

void suppressions_fini(struct suppressions *list);

/* Demangles a linker name; the caller frees the result. NULL: not mangled. */
typedef char *suppression_demangle_fn(const char *name);

/*
 * Adds the rules in a text; name is used in messages. demangle is optional: without it patterns of
 * linker names match only linker names. -EINVAL: err names the line.
 */
int suppressions_parse(struct suppressions *list, const char *name, const char *text, size_t size,
		       suppression_demangle_fn *demangle, struct error *err);

/* The same for a file. */
int suppressions_read(struct suppressions *list, const char *path,
		      suppression_demangle_fn *demangle, struct error *err);

/* A frame of a stack as seen by rules; missing texts are "". */
struct suppression_call {
	const char *function;
	const char *module; /* path */
	const char *file;   /* path */
	uint32_t line;
	bool allocates; /* on behalf of others: malloc, operator new and the like */
};

/* What rules are matched against: blocks that share all of this. */
struct suppression_subject {
	uint32_t kind; /* one bit */
	uint64_t size_bytes;
	uint64_t first_ns; /* time of the first allocation, since the start of the recording */
	uint64_t last_ns;
	const char *thread;
	const struct suppression_call *calls; /* innermost first */
	size_t call_count;
	size_t place; /* index of the allocation site */
};

/* The first matching rule, or SIZE_MAX. */
size_t suppressions_find(const struct suppressions *list,
			 const struct suppression_subject *subject);

/* Whether a rule matches. */
bool suppression_fits(const struct suppressions *list, const struct suppression *rule,
		      const struct suppression_subject *subject);

/* Whether the whole text matches a pattern with * and ?. */
bool suppression_glob(const char *pattern, const char *text);

#endif
