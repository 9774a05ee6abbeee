/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/allocators.h"

#include <errno.h>
#include <string.h>

#include "base/expression.h"
#include "base/path.h"

/* Prefixes of the files of libraries that allocate for others. */
static const char *const libraries[] = {
	"libc.so",   "libc-2.",     "ld-linux",    "ld-musl-",    "libstdc++.so",
	"libc++.so", "libjemalloc", "libtcmalloc", "libmimalloc", "libwick-preload",
};

/* Prefixes of the names of such functions. */
static const char *const prefixes[] = {
	"operator new", "std::",   "__gnu_cxx::", "alloc::",      "<alloc::",
	"__rust_",      "__rdl_",  "_emalloc",    "_ecalloc",     "_erealloc",
	"git__malloc",  "g_slice", "hashbrown::", "<hashbrown::",
};

static const char *const names[] = {
	"malloc",        "calloc",   "realloc", "reallocarray", "posix_memalign",
	"aligned_alloc", "memalign", "valloc",  "pvalloc",
};

/* Wrappers of these: common names, and those of large projects. */
static const char *const wrappers[] = {
	"xmalloc",
	"xcalloc",
	"xrealloc",
	"xzalloc",
	"xmalloc0",
	"xnmalloc",
	"xmemdup",
	"xstrdup",
	"xstrndup",
	"xreallocarray",
	"safe_malloc",
	"safe_calloc",
	"safe_realloc",
	"emalloc",
	"ecalloc",
	"erealloc",
	"estrdup",
	"checked_malloc",
	"mem_alloc",
	"mem_calloc",
	"mem_realloc",
	"my_malloc",
	"my_realloc",
	"my_strdup",
	"g_malloc",
	"g_malloc0",
	"g_malloc_n",
	"g_malloc0_n",
	"g_try_malloc",
	"g_try_malloc0",
	"g_realloc",
	"g_realloc_n",
	"g_try_realloc",
	"g_strdup",
	"g_strndup",
	"g_strdup_vprintf",
	"g_strdup_printf",
	"g_memdup",
	"g_memdup2",
	"CRYPTO_malloc",
	"CRYPTO_zalloc",
	"CRYPTO_realloc",
	"CRYPTO_strdup",
	"CRYPTO_memdup",
	"jv_mem_alloc",
	"jv_mem_calloc",
	"jv_mem_realloc",
	"jv_mem_strdup",
	"zmalloc",
	"zcalloc",
	"zrealloc",
	"ztrymalloc",
	"ztrycalloc",
	"zmalloc_usable",
	"ztrymalloc_usable",
	"zcalloc_num",
	"ngx_alloc",
	"ngx_calloc",
	"ngx_memalign",
	"av_malloc",
	"av_mallocz",
	"av_calloc",
	"av_realloc",
	"av_realloc_array",
	"av_malloc_array",
	"av_mallocz_array",
	"av_fast_malloc",
	"AllocSetAlloc",
	"AllocSetRealloc",
	"MemoryContextAlloc",
	"palloc",
	"palloc0",
	"repalloc",
	"pg_malloc",
	"pg_malloc0",
	"sqlite3MemMalloc",
	"sqlite3Malloc",
	"sqlite3MallocZero",
	"sqlite3DbMallocRaw",
	"sqlite3DbMallocRawNN",
	"sqlite3DbMallocZero",
	"sqlite3Realloc",
	"sqlite3_malloc",
	"sqlite3_malloc64",
	"PyMem_Malloc",
	"PyMem_Calloc",
	"PyMem_Realloc",
	"PyMem_RawMalloc",
	"PyMem_RawCalloc",
	"PyMem_RawRealloc",
	"PyObject_Malloc",
	"PyObject_Calloc",
	"PyObject_Realloc",
	"_PyMem_RawMalloc",
	"_PyMem_RawCalloc",
	"_PyMem_RawRealloc",
	"_PyObject_Malloc",
	"_PyObject_Calloc",
	"_PyObject_Realloc",
	"ruby_xmalloc",
	"ruby_xmalloc2",
	"ruby_xcalloc",
	"ruby_xrealloc",
	"xmlMalloc",
	"xmlStrdup",
	"xmlStrndup",
	"SDL_malloc",
	"SDL_calloc",
	"SDL_realloc",
	"apr_palloc",
	"talloc_named_const",
	"_talloc_zero",
	"curl_domalloc",
	"curl_docalloc",
	"lua_newuserdatauv",
	"l_alloc",
};

/* The command line has reported invalid expressions: skip them. */
static int choose(struct allocators *allocators, const char *text)
{
	char reason[EXPRESSION_REASON];
	regex_t expression;

	if (expression_compile(&expression, text, reason) < 0)
		return 0;
	if (vec_push(&allocators->chosen, expression) == 0)
		return 0;
	regfree(&expression);
	return -ENOMEM;
}

int allocators_init(struct allocators *allocators, const struct profile *profile)
{
	*allocators = (struct allocators){.profile = profile};
	for (size_t i = 0; i < profile->facts.count; i++) {
		struct profile_fact fact = profile->facts.items[i];

		if (strcmp(profile_text(profile, fact.key), ALLOCATORS_FACT) == 0 &&
		    choose(allocators, profile_text(profile, fact.value)) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < profile->functions.count; i++)
		if (vec_push(&allocators->known, 0) < 0)
			return -ENOMEM;
	return 0;
}

void allocators_fini(struct allocators *allocators)
{
	for (size_t i = 0; i < allocators->chosen.count; i++)
		regfree(&allocators->chosen.items[i]);
	vec_fini(&allocators->chosen);
	vec_fini(&allocators->known);
}

static bool begins_with(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

/* Whether it is one of the names, with any parameters. */
static bool is_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(list[i]);

		if (strncmp(name, list[i], n) == 0 && (name[n] == '\0' || name[n] == '('))
			return true;
	}
	return false;
}

static bool judge(const struct allocators *allocators, uint32_t id)
{
	const struct profile *profile = allocators->profile;
	const struct profile_function *function = &profile->functions.items[id];
	const char *name = profile_text(profile, function->name);
	const char *module = profile_text(profile, function->module);

	if (begins_with(path_base_name(module), libraries, ARRAY_SIZE(libraries)) ||
	    begins_with(name, prefixes, ARRAY_SIZE(prefixes)) ||
	    is_one_of(name, names, ARRAY_SIZE(names)) ||
	    is_one_of(name, wrappers, ARRAY_SIZE(wrappers)))
		return true;
	for (size_t i = 0; i < allocators->chosen.count; i++)
		if (regexec(&allocators->chosen.items[i], name, 0, NULL, 0) == 0)
			return true;
	return false;
}

bool allocators_has(struct allocators *allocators, uint32_t function)
{
	int8_t *known = &allocators->known.items[function];

	if (*known == 0)
		*known = judge(allocators, function) ? 1 : -1;
	return *known > 0;
}

static bool is_interpreted(const struct profile *profile, uint32_t line)
{
	uint32_t function = profile->lines.items[line].function;

	return profile->functions.items[function].origin == ORIGIN_INTERPRETED;
}

int allocators_lines(struct allocators *allocators, uint32_t stack, size_t most,
		     struct allocation_lines *ret)
{
	const struct profile *profile = allocators->profile;
	const struct stack_node *nodes = profile->stacks.nodes.items;
	bool is_call = false; /* the place is a call of an interpreted language */
	bool found = false;

	ret->items.count = 0;
	ret->place = 0;
	for (uint32_t at = stack; at != 0; at = nodes[at].parent) {
		const struct profile_location *location =
			&profile->locations.items[nodes[at].frame];
		bool is_cut = profile_is_truncated(profile, nodes[at].frame);

		for (uint32_t i = location->line_count; i-- > 0;) {
			uint32_t line = location->first_line + i;
			bool allocates =
				allocators_has(allocators, profile->lines.items[line].function);

			if (ret->items.count >= most)
				return 0;
			if (!is_call && !is_cut &&
			    (is_interpreted(profile, line) || (!found && !allocates))) {
				is_call = is_interpreted(profile, line);
				found = true;
				ret->place = ret->items.count;
			}
			if (vec_push(&ret->items,
				     (struct allocation_line){line, i > 0, allocates}) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}
