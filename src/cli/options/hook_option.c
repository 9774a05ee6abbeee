/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/hook_option.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/run_command.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cli/nearest_name.h"
#include "elf/elf.h"
#include "elf/elf_function.h"
#include "engine/signal/preload_path.h"
#include "symbol/elf_symbols.h"

#define MAX_ARGUMENTS 6u /* that are in registers on all CPUs */
#define MAX_FUNCTION_BYTES (1u << 20)
#define MAX_SUGGESTIONS 16u /* to try: each try reads the symbols */
#define LOADER_LIMIT_NS (5 * NS_PER_SEC)
#define LOADER_LIMIT_BYTES (1u << 20)
#define FORM "alloc=SYM,free=SYM"

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

static void scope_release_symbols(struct elf_symbols **symbols)
{
	elf_symbols_free(*symbols);
}

static void scope_release_bytes(struct bytes *bytes)
{
	bytes_fini(bytes);
}

/* One function of a pair, as the user wrote it. */
struct wanted {
	bool is_free;
	char name[256];
	char library[PATH_MAX]; /* "": the program itself */
	uint8_t argument;
	uint8_t factor;
};

static int refuse_form(const char *text, struct error *err)
{
	(void)error_set(err, -EINVAL, "--hook %s: not of the form " FORM, text);
	error_remedy(
		err,
		"write it like --hook alloc=pool_alloc:2,free=pool_free:2, where :2 means that the "
		"size, or the block, is the second argument; SYM@LIB is a function of a library");
	return -EINVAL;
}

/* Parses "2" or "1*2" after the last colon, if there is one, and cuts it off. */
static bool take_arguments(char *text, struct wanted *wanted)
{
	char *colon = strrchr(text, ':');
	size_t length = colon ? strspn(colon + 1, "0123456789*") : 0;
	char *star;
	unsigned long number;
	unsigned long factor = 0;

	if (!colon || colon[1 + length] != '\0')
		return true; /* of a path */
	star = strchr(colon, '*');
	number = strtoul(colon + 1, NULL, 10);
	if (star)
		factor = strtoul(star + 1, NULL, 10);
	if (number < 1 || number > MAX_ARGUMENTS || (star && (factor < 1 || wanted->is_free)) ||
	    factor > MAX_ARGUMENTS)
		return false;
	wanted->argument = (uint8_t)(number - 1);
	wanted->factor = star ? (uint8_t)(factor - 1) : UINT8_MAX;
	*colon = '\0';
	return true;
}

/* Parses "alloc=SYM…" or "free=SYM…". False if it is neither. */
static bool read_part(const char *text, size_t length, struct wanted *ret)
{
	char copy[PATH_MAX];
	const char *symbol;
	char *at;

	*ret = (struct wanted){.factor = UINT8_MAX};
	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	ret->is_free = strncmp(copy, "free=", 5) == 0;
	if (!ret->is_free && strncmp(copy, "alloc=", 6) != 0)
		return false;
	symbol = strchr(copy, '=') + 1;
	if (!take_arguments(copy, ret))
		return false;
	at = strchr(copy, '@');
	if (at) {
		*at++ = '\0';
		(void)snprintf(ret->library, sizeof(ret->library), "%s", at);
		if (*at == '\0')
			return false;
	}
	return symbol[0] != '\0' && strchr(symbol, ',') == NULL &&
	       (size_t)snprintf(ret->name, sizeof(ret->name), "%s", symbol) < sizeof(ret->name);
}

/* Parses both halves of a pair, in either order. */
static int read_pair(const char *text, struct wanted *ret, struct error *err)
{
	const char *comma = strstr(text, ",free=");

	if (!comma)
		comma = strstr(text, ",alloc=");
	if (!comma || !read_part(text, (size_t)(comma - text), &ret[0]) ||
	    !read_part(comma + 1, strlen(comma + 1), &ret[1]) || ret[0].is_free == ret[1].is_free)
		return refuse_form(text, err);
	return 0;
}

/* Whether a library is meant: "libpool.so.1" by "libpool.so.1", "libpool.so" or "libpool". */
static bool is_called(const char *name, size_t length, const char *wanted)
{
	size_t wanted_length = strlen(wanted);

	return length >= wanted_length && strncmp(name, wanted, wanted_length) == 0 &&
	       (length == wanted_length || name[wanted_length] == '.');
}

/* Parses lines of a loader: "	NAME => PATH (0xADDRESS)". */
static bool find_line(const char *text, const char *library, char *ret)
{
	while (text && *text) {
		const char *end = strchrnul(text, '\n');
		const char *name = text + strspn(text, "\t ");
		const char *arrow = strstr(name, " => ");

		if (arrow && arrow < end && is_called(name, (size_t)(arrow - name), library)) {
			const char *path = arrow + 4;
			const char *paren = memrchr(path, '(', (size_t)(end - path));

			if (paren && paren - path > 1 && paren - path < PATH_MAX) {
				(void)snprintf(ret, PATH_MAX, "%.*s", (int)(paren - path - 1),
					       path);
				return true;
			}
		}
		text = *end ? end + 1 : NULL;
	}
	return false;
}

/* Finds the file of a library with the program's loader, which does not run the program. */
static int find_library(const char *program, const char *library, char *ret, struct error *err)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	SCOPED(bytes) struct bytes text = {0};
	char interpreter[PATH_MAX] = "";

	if (strchr(library, '/')) {
		(void)snprintf(ret, PATH_MAX, "%s", library);
		return 0;
	}
	if (elf_open(program, &elf, NULL) == 0)
		preload_interpreter(elf, interpreter, sizeof(interpreter));
	if (interpreter[0] != '\0' &&
	    run_command((const char *const[]){interpreter, "--list", program, NULL},
			LOADER_LIMIT_NS, LOADER_LIMIT_BYTES, &text) == 0) {
		bytes_put_u8(&text, 0);
		if (!text.failed && find_line((const char *)text.data, library, ret))
			return 0;
	}
	(void)error_set(err, -ENOENT, "--hook: %s loads no library named %s at its start", program,
			library);
	error_remedy(err,
		     "see what it loads: ldd %s; give the path of a library that is loaded later: "
		     "SYM@/path/to/library.so",
		     program);
	return -ENOENT;
}

/* Reads the code of a function, and checks whether it can be hooked. */
static const char *look_at_code(struct elf_file *elf, const struct elf_function *place,
				struct engine_hook *hook)
{
	SCOPED(mem) uint8_t *code = NULL;
	const char *reason;
	uint64_t offset;

	if (place->size == 0)
		return "has no size in the symbol table";
	if (place->size > MAX_FUNCTION_BYTES)
		return "is too large to analyse";
	code = malloc(place->size);
	if (!code)
		return "could not be analysed: out of memory";
	if (elf_vaddr_to_offset(elf, place->vaddr, &offset) < 0 ||
	    elf_read_at(elf, offset, code, place->size) < 0)
		return "has no code in its file";
	reason = entry_code_look(elf_machine(elf), code, place->size, &hook->entry);
	if (!reason)
		memcpy(hook->code, code,
		       place->size < sizeof(hook->code) ? place->size : sizeof(hook->code));
	return reason;
}

/* Whether a function of that name can be hooked. */
static bool can_be_hooked(struct elf_file *elf, const char *name)
{
	struct engine_hook hook = {0};
	struct elf_function place;

	elf_functions_find(elf, &name, 1, &place);
	return place.found && !place.is_repeated && !place.chosen_at_run_time &&
	       !look_at_code(elf, &place, &hook);
}

/* The nearest name that can be hooked, or NULL. Removes names that cannot from the list. */
static const char *nearest_hook(struct elf_file *elf, const char *name, const char **names,
				size_t count)
{
	for (unsigned int i = 0; i < MAX_SUGGESTIONS; i++) {
		const char *nearest = nearest_name(name, names, count);

		if (!nearest || can_be_hooked(elf, nearest))
			return nearest;
		for (size_t k = 0; k < count; k++)
			if (names[k] == nearest)
				names[k] = names[--count];
	}
	return NULL;
}

/* Finds the function that was probably meant. */
static void suggest(struct elf_file *elf, const char *name, const char *path, struct error *err)
{
	SCOPED(symbols) struct elf_symbols *symbols = NULL;
	VEC(const char *) names = {0};
	const char *nearest;

	if (elf_symbols_read(elf, &symbols, NULL) < 0 || !elf_symbols_have_names(symbols)) {
		error_remedy(err, "it has no symbols: use a build that is not stripped");
		return;
	}
	for (uint32_t i = 0; i < elf_symbols_count(symbols); i++) {
		const char *known = elf_symbols_at(symbols, i).name;

		/* Names with an @ are entries of linkage tables, or indirect functions. */
		if (known[0] && !strchr(known, '@') && vec_push(&names, known) < 0)
			break; /* fewer to choose from */
	}
	nearest = nearest_hook(elf, name, names.items, names.count);
	if (nearest)
		error_remedy(err, "did you mean %s?", nearest);
	else
		error_remedy(err,
			     "list its functions: nm %s; a function of a library is SYM@LIB, one "
			     "of a program that a wrapper starts is SYM@/path/to/program",
			     path);
	vec_fini(&names);
}

static int find_function(struct elf_file *elf, const struct wanted *wanted, const char *path,
			 struct elf_function *ret, struct error *err)
{
	const char *name = wanted->name;

	elf_functions_find(elf, &name, 1, ret);
	if (!ret->found) {
		(void)error_set(err, -ENOENT, "--hook: there is no function called %s in %s",
				wanted->name, path);
		suggest(elf, wanted->name, path, err);
		return -ENOENT;
	}
	if (ret->is_repeated) {
		(void)error_set(err, -EINVAL, "--hook: %s has several functions named %s", path,
				wanted->name);
		error_remedy(err, "give the function a unique name: only the name identifies it");
		return -EINVAL;
	}
	if (ret->chosen_at_run_time) {
		(void)error_set(
			err, -EINVAL,
			"--hook: %s in %s is an indirect function, resolved when a program starts",
			wanted->name, path);
		error_remedy(err, "name the function that it resolves to");
		return -EINVAL;
	}
	return 0;
}

static int resolve(const struct wanted *wanted, const char *program, struct engine_hook *hook,
		   struct error *err)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	struct elf_function place;
	struct stat status;
	char path[PATH_MAX];
	int r;

	if (wanted->library[0] == '\0')
		(void)snprintf(path, sizeof(path), "%s", program);
	else if ((r = find_library(program, wanted->library, path, err)) < 0)
		return r;
	r = elf_open(path, &elf, err);
	if (r < 0) {
		error_remedy(err, "name the file that contains %s: SYM@/path/to/program",
			     wanted->name);
		return error_prefix(err, r, "--hook");
	}
	r = find_function(elf, wanted, path, &place, err);
	if (r < 0)
		return r;
	if (stat(path, &status) < 0)
		return error_file(err, -errno, "--hook: %s", path);
	hook->device = status.st_dev;
	hook->inode = status.st_ino;
	hook->vaddr = place.vaddr;
	hook->is_free = wanted->is_free;
	hook->argument = wanted->argument;
	hook->factor = wanted->factor;
	hook->refused = look_at_code(elf, &place, hook);
	return 0;
}

static int refuse_repeated(const struct hook_option *option, struct error *err)
{
	for (size_t i = 0; i < option->count; i++)
		for (size_t k = 0; k < i; k++)
			if (option->items[i].vaddr == option->items[k].vaddr &&
			    option->items[i].inode == option->items[k].inode &&
			    option->items[i].device == option->items[k].device) {
				(void)error_set(err, -EINVAL,
						"--hook: %s and %s are the same function",
						option->names[k], option->names[i]);
				error_remedy(err, "name each function once");
				return -EINVAL;
			}
	return 0;
}

/*
 * Joins the pair that begins with an item of the list. In an environment variable commas separate
 * items, so a pair may be in two of them. Returns the number of items.
 */
static size_t take_pair(const struct option_list *list, size_t at, char *ret, size_t size)
{
	const char *first = list->items[at];
	bool is_half =
		!strstr(first, ",free=") && !strstr(first, ",alloc=") && at + 1 < list->count;

	(void)snprintf(ret, size, "%s%s%s", first, is_half ? "," : "",
		       is_half ? list->items[at + 1] : "");
	return is_half ? 2 : 1;
}

/* Finds the functions of a pair. */
static int add_pair(const char *text, const char *program, struct hook_option *ret,
		    struct error *err)
{
	struct engine_hook *pair = &ret->items[ret->count];
	struct wanted wanted[2];
	int r = ret->count < ENGINE_HOOKS
			? read_pair(text, wanted, err)
			: error_advise(err,
				       error_set(err, -EINVAL, "--hook accepts at most %u pairs",
						 ENGINE_HOOKS / 2),
				       "hook only the functions that allocate most");

	for (size_t k = 0; k < 2 && r == 0; k++) {
		char *name = ret->names[ret->count + k];

		(void)snprintf(name, sizeof(ret->names[0]), "%s", wanted[k].name);
		pair[k].name = name;
		r = resolve(&wanted[k], program, &pair[k], err);
	}
	if (r < 0)
		return r;
	/* With only one of the two, blocks would never end, or never begin. */
	if (!pair[0].refused && pair[1].refused)
		pair[0].refused = "is useless without the other function of its pair";
	else if (pair[0].refused && !pair[1].refused)
		pair[1].refused = "is useless without the other function of its pair";
	ret->count += 2;
	return 0;
}

int hook_option_read(const struct option_list *list, const char *program, struct hook_option *ret,
		     struct error *err)
{
	char path[PATH_MAX];
	int r = 0;

	*ret = (struct hook_option){0};
	if (!preload_find_program(program, path, sizeof(path)))
		(void)snprintf(path, sizeof(path), "%s",
			       program); /* running it will show the error */
	for (size_t i = 0; i < list->count && r == 0;) {
		char text[2 * PATH_MAX];

		i += take_pair(list, i, text, sizeof(text));
		r = add_pair(text, path, ret, err);
	}
	return r < 0 ? r : refuse_repeated(ret, err);
}
