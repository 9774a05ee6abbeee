/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symboliser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/dwarf.h"
#include "model/entity.h"
#include "symbol/debug_info.h"
#include "symbol/elf_symbols.h"
#include "symbol/jit_symbols.h"
#include "symbol/kernel_symbols.h"
#include "symbol/linker_name.h"
#include "symbol/module_symbols.h"

/* Stands for the kernel among module ids; MODULE_NONE never has a state. */
#define KERNEL_ID MODULE_NONE

static const struct symbol_frame unknown_frame = {.function = "[unknown]"};

struct module_state {
	uint32_t id;
	const char *base; /* last part of the path */
	struct module_symbols symbols;
	/* One for each symbol of each table, made when first asked for. */
	struct symbol_frame **frames[MODULE_SYMBOL_TABLES];
	struct debug_info *debug; /* NULL when there is none or nobody asks */
};

/* An answer that belongs to one address: a kernel function's start, no name, or lines. */
struct address_frame {
	uint32_t module_id;
	uint32_t line_count; /* of frames of debug information; 0: it is another answer */
	uint64_t address;
	const struct symbol_frame *frame;
};

/* A linker name of debug information, which has each once, and what is shown for it. */
struct shown_name {
	const char *linker;
	const char *text;
};

struct symboliser {
	bool demangle;
	bool merge_clones;
	enum symbol_detail detail;
	char **paths;
	size_t path_count;
	const struct kernel_symbols *kernel;
	const struct jit_symbols *jit;
	VEC(struct module_state *) modules;
	struct id_index module_index; /* by module id */
	VEC(struct address_frame) addresses;
	struct id_index address_index; /* by module id and address */
	VEC(struct shown_name) shown;
	struct id_index shown_index; /* by the linker name's pointer */
	struct dwarf_frames *found;  /* scratch; NULL when nobody asks */
	struct arena arena;          /* frames and names */
};

static void scope_release_symboliser(struct symboliser **symboliser)
{
	symboliser_free(*symboliser);
}

static void module_state_free(struct module_state *state)
{
	if (!state)
		return;
	module_symbols_fini(&state->symbols);
	for (size_t i = 0; i < MODULE_SYMBOL_TABLES; i++)
		free(state->frames[i]);
	debug_info_free(state->debug);
	free(state);
}

static void scope_release_module_state(struct module_state **state)
{
	module_state_free(*state);
}

int symboliser_new(const struct symboliser_config *config, struct symboliser **ret,
		   struct error *err)
{
	SCOPED(symboliser) struct symboliser *symboliser = calloc(1, sizeof(*symboliser));

	if (!symboliser)
		return error_set(err, -ENOMEM, "out of memory");
	symboliser->demangle = config->demangle;
	symboliser->merge_clones = config->merge_clones;
	symboliser->detail = config->detail;
	if (config->detail != SYMBOLS_NAMES) {
		symboliser->found = malloc(sizeof(*symboliser->found));
		if (!symboliser->found)
			return error_set(err, -ENOMEM, "out of memory");
	}
	symboliser->paths = calloc(config->symbol_path_count + 1, sizeof(*symboliser->paths));
	if (!symboliser->paths)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < config->symbol_path_count; i++) {
		symboliser->paths[i] = strdup(config->symbol_paths[i]);
		if (!symboliser->paths[i])
			return error_set(err, -ENOMEM, "out of memory");
		symboliser->path_count++;
	}
	*ret = scope_take(&symboliser);
	return 0;
}

void symboliser_free(struct symboliser *symboliser)
{
	if (!symboliser)
		return;
	for (size_t i = 0; i < symboliser->modules.count; i++)
		module_state_free(symboliser->modules.items[i]);
	vec_fini(&symboliser->modules);
	id_index_fini(&symboliser->module_index);
	vec_fini(&symboliser->addresses);
	id_index_fini(&symboliser->address_index);
	vec_fini(&symboliser->shown);
	id_index_fini(&symboliser->shown_index);
	free(symboliser->found);
	for (size_t i = 0; i < symboliser->path_count; i++)
		free(symboliser->paths[i]);
	free(symboliser->paths);
	arena_fini(&symboliser->arena);
	free(symboliser);
}

void symboliser_set_kernel(struct symboliser *symboliser, const struct kernel_symbols *kernel)
{
	/* Answers of the former table are kept valid but not given again. */
	symboliser->addresses.count = 0;
	id_index_clear(&symboliser->address_index);
	symboliser->kernel = kernel;
}

void symboliser_set_jit(struct symboliser *symboliser, const struct jit_symbols *jit)
{
	symboliser->jit = jit;
}

/* Makes a frame with a copy of the name. NULL without memory. */
static struct symbol_frame *make_frame(struct symboliser *symboliser, const char *name, size_t size)
{
	struct symbol_frame *frame = arena_alloc(&symboliser->arena, sizeof(*frame));
	char *copy = arena_strndup(&symboliser->arena, name, size);

	if (!frame || !copy)
		return NULL;
	*frame = (struct symbol_frame){.function = copy};
	return frame;
}

static struct symbol_frame *make_named_frame(struct symboliser *symboliser, const char *name)
{
	SCOPED(mem)
	char *text = linker_name_show(name, symboliser->demangle, symboliser->merge_clones);

	return text ? make_frame(symboliser, text, strlen(text)) : NULL;
}

static struct symbol_frame *make_kernel_frame(struct symboliser *symboliser, const char *name)
{
	SCOPED(mem)
	char *text = linker_name_show_kernel(name, symboliser->demangle, symboliser->merge_clones);

	return text ? make_frame(symboliser, text, strlen(text)) : NULL;
}

static struct module_state *find_state(const struct symboliser *symboliser, uint32_t module_id)
{
	struct id_probe probe = id_index_probe(&symboliser->module_index, hash_pair(module_id, 0));
	uint32_t i;

	while ((i = id_probe_next(&symboliser->module_index, &probe)) != ID_NONE)
		if (symboliser->modules.items[i]->id == module_id)
			return symboliser->modules.items[i];
	return NULL;
}

static const char *base_name(const struct module *module)
{
	const char *slash;

	if (module->kind == MODULE_ANONYMOUS)
		return "[anon]";
	if (module->kind == MODULE_VDSO)
		return "[vdso]";
	slash = strrchr(module->path, '/');
	return slash ? slash + 1 : module->path;
}

/* Opens the module at its first use. NULL without memory. */
static struct module_state *get_state(struct symboliser *symboliser, const struct module *module,
				      uint32_t module_id)
{
	struct symbol_search search = {(const char *const *)symboliser->paths,
				       symboliser->path_count};
	SCOPED(module_state) struct module_state *state = NULL;
	const char *base = base_name(module);
	struct module_state *found = find_state(symboliser, module_id);

	if (found)
		return found;
	state = calloc(1, sizeof(*state));
	if (!state || vec_reserve(&symboliser->modules, symboliser->modules.count + 1) < 0)
		return NULL;
	state->id = module_id;
	state->base = arena_strndup(&symboliser->arena, base, strlen(base));
	if (!state->base)
		return NULL;
	module_symbols_init(&state->symbols, module, &search);
	for (size_t i = 0; i < state->symbols.table_count; i++) {
		uint32_t count = elf_symbols_count(state->symbols.tables[i]);

		state->frames[i] = calloc(count, sizeof(*state->frames[i]));
		if (!state->frames[i])
			return NULL;
	}
	if (symboliser->detail != SYMBOLS_NAMES && state->symbols.debug)
		state->debug = debug_info_open(scope_take(&state->symbols.debug),
					       state->symbols.debug_path);
	if (id_index_add(&symboliser->module_index, hash_pair(module_id, 0),
			 (uint32_t)symboliser->modules.count) < 0)
		return NULL;
	found = scope_take(&state);
	symboliser->modules.items[symboliser->modules.count++] = found;
	return found;
}

static const struct symbol_frame *find_symbol_frame(struct symboliser *symboliser,
						    struct module_state *state, uint64_t vaddr)
{
	for (size_t i = 0; i < state->symbols.table_count; i++) {
		const struct elf_symbols *table = state->symbols.tables[i];
		uint32_t symbol = elf_symbols_find(table, vaddr);

		if (symbol == ELF_SYMBOL_NONE)
			continue;
		struct elf_symbol found = elf_symbols_at(table, symbol);

		if (found.name[0] == '\0')
			continue;
		if (!state->frames[i][symbol]) {
			struct symbol_frame *frame = make_named_frame(symboliser, found.name);

			if (frame)
				frame->start = found.start;
			state->frames[i][symbol] = frame;
		}
		return state->frames[i][symbol];
	}
	return NULL;
}

/* Where the function starts that has no name; the address itself when that is unknown. */
static uint64_t find_start(const struct module_state *state, uint64_t vaddr)
{
	for (size_t i = 0; i < state->symbols.table_count; i++) {
		uint32_t symbol = elf_symbols_find(state->symbols.tables[i], vaddr);

		if (symbol != ELF_SYMBOL_NONE)
			return elf_symbols_at(state->symbols.tables[i], symbol).start;
	}
	return vaddr;
}

static const struct address_frame *find_address_entry(const struct symboliser *symboliser,
						      uint32_t module_id, uint64_t address)
{
	struct id_probe probe =
		id_index_probe(&symboliser->address_index, hash_pair(module_id, address));
	uint32_t i;

	while ((i = id_probe_next(&symboliser->address_index, &probe)) != ID_NONE) {
		const struct address_frame *known = &symboliser->addresses.items[i];

		if (known->module_id == module_id && known->address == address)
			return known;
	}
	return NULL;
}

static const struct symbol_frame *find_address_frame(const struct symboliser *symboliser,
						     uint32_t module_id, uint64_t address)
{
	const struct address_frame *known = find_address_entry(symboliser, module_id, address);

	return known ? known->frame : NULL;
}

/* Files frames, which may be NULL for want of memory, under their address. */
static const struct symbol_frame *keep_address_frames(struct symboliser *symboliser,
						      uint32_t module_id, uint64_t address,
						      const struct symbol_frame *frame,
						      size_t line_count)
{
	struct address_frame entry = {module_id, (uint32_t)line_count, address, frame};
	uint32_t id = (uint32_t)symboliser->addresses.count;

	/* An entry that the index does not name is only made again. */
	if (frame && vec_push(&symboliser->addresses, entry) == 0)
		(void)id_index_add(&symboliser->address_index, hash_pair(module_id, address), id);
	return frame;
}

static const struct symbol_frame *keep_address_frame(struct symboliser *symboliser,
						     uint32_t module_id, uint64_t address,
						     const struct symbol_frame *frame)
{
	return keep_address_frames(symboliser, module_id, address, frame, 0);
}

/* "base+0x1234": says where the address is and that it has no name. */
static const struct symbol_frame *get_nameless_frame(struct symboliser *symboliser,
						     uint32_t module_id, const char *base,
						     uint64_t address)
{
	const struct symbol_frame *frame = find_address_frame(symboliser, module_id, address);
	char text[512];

	if (frame)
		return frame;
	(void)snprintf(text, sizeof(text), "%s+0x%" PRIx64, base, address); /* NAME_MAX fits */
	return keep_address_frame(symboliser, module_id, address,
				  make_frame(symboliser, text, strlen(text)));
}

static enum symbol_quality answer(const struct symbol_frame *frame, enum symbol_quality quality,
				  const struct symbol_frame **ret_frames, size_t *ret_count)
{
	*ret_frames = frame ? frame : &unknown_frame;
	*ret_count = 1;
	return frame ? quality : SYMBOL_NONE;
}

enum symbol_quality symboliser_resolve_kernel(struct symboliser *symboliser, uint64_t address,
					      const struct symbol_frame **ret_frames,
					      size_t *ret_count)
{
	const struct symbol_frame *frame;
	struct kernel_symbol symbol;

	if (!symboliser->kernel || !kernel_symbols_find(symboliser->kernel, address, &symbol))
		return answer(get_nameless_frame(symboliser, KERNEL_ID, "[kernel]", address),
			      SYMBOL_NONE, ret_frames, ret_count);
	frame = find_address_frame(symboliser, KERNEL_ID, symbol.start);
	if (!frame)
		frame = keep_address_frame(symboliser, KERNEL_ID, symbol.start,
					   make_kernel_frame(symboliser, symbol.name));
	return answer(frame, SYMBOL_NAME_ONLY, ret_frames, ret_count);
}

/* The frame of compiled code in anonymous memory, NULL when it has no name. */
static const struct symbol_frame *find_jit_frame(struct symboliser *symboliser,
						 const struct module *module, uint32_t module_id,
						 uint64_t address)
{
	const struct symbol_frame *known;
	struct symbol_frame *frame;
	struct jit_symbol symbol;

	if (module->kind != MODULE_ANONYMOUS || !symboliser->jit ||
	    !jit_symbols_find(symboliser->jit, module->owner, address, &symbol))
		return NULL;
	known = find_address_frame(symboliser, module_id, symbol.start);
	if (known)
		return known;
	frame = make_frame(symboliser, symbol.name, strlen(symbol.name));
	if (frame)
		frame->start = symbol.start;
	return keep_address_frame(symboliser, module_id, symbol.start, frame);
}

/* What is shown for a name of debug information, made once. NULL without memory. */
static const char *show_name(struct symboliser *symboliser, const struct dwarf_frame *frame)
{
	uint64_t hash = hash_pair((uintptr_t)frame->name, frame->mangled);
	struct id_probe probe = id_index_probe(&symboliser->shown_index, hash);
	SCOPED(mem) char *text = NULL;
	struct shown_name shown = {frame->name, frame->name};
	uint32_t id;

	if (!frame->mangled || !symboliser->demangle)
		return frame->name;
	while ((id = id_probe_next(&symboliser->shown_index, &probe)) != ID_NONE)
		if (symboliser->shown.items[id].linker == frame->name)
			return symboliser->shown.items[id].text;
	text = linker_name_show(frame->name, true, symboliser->merge_clones);
	if (text)
		shown.text = arena_strndup(&symboliser->arena, text, strlen(text));
	id = (uint32_t)symboliser->shown.count;
	/* What the index does not name is only made again. */
	if (shown.text && vec_push(&symboliser->shown, shown) == 0)
		(void)id_index_add(&symboliser->shown_index, hash, id);
	return shown.text;
}

/*
 * Makes the frames that debug information tells of. The function proper keeps the name
 * that its symbol has, which tells parts and clones apart; *own is that or NULL. Returns
 * NULL, with a count of 0, when there are no lines.
 */
static const struct symbol_frame *make_line_frames(struct symboliser *symboliser,
						   struct module_state *state, uint64_t vaddr,
						   const struct symbol_frame *own,
						   size_t *ret_count)
{
	const struct dwarf_frames *found = symboliser->found;
	int count = dwarf_find(debug_info_dwarf(state->debug), vaddr, symboliser->found);
	size_t skipped =
		symboliser->detail == SYMBOLS_INLINES || count <= 0 ? 0 : (size_t)count - 1;
	struct symbol_frame *frames;

	*ret_count = 0;
	if (count <= 0 || (!own && !found->items[count - 1].name))
		return NULL;
	frames = arena_alloc(&symboliser->arena, ((size_t)count - skipped) * sizeof(*frames));
	if (!frames)
		return NULL;
	for (size_t i = skipped; i < found->count; i++) {
		const struct dwarf_frame *frame = &found->items[i];
		const char *name = frame->name ? show_name(symboliser, frame) : NULL;
		bool last = i + 1 == found->count;

		frames[i - skipped] = (struct symbol_frame){
			.function = last && own ? own->function
				    : name      ? name
						: "[inlined]",
			.file = frame->file,
			.line = frame->line,
			.inlined = frame->inlined,
			.start = last && own ? own->start : frame->low,
		};
	}
	*ret_count = (size_t)count - skipped;
	return frames;
}

/* Answers from debug information; false when it has nothing to tell. */
static bool resolve_lines(struct symboliser *symboliser, struct module_state *state, uint64_t vaddr,
			  const struct symbol_frame **ret_frames, size_t *ret_count)
{
	const struct address_frame *known = find_address_entry(symboliser, state->id, vaddr);

	if (known) {
		*ret_frames = known->frame;
		*ret_count = known->line_count;
		return known->line_count > 0;
	}
	*ret_frames = make_line_frames(symboliser, state, vaddr,
				       find_symbol_frame(symboliser, state, vaddr), ret_count);
	if (!*ret_frames)
		return false;
	(void)keep_address_frames(symboliser, state->id, vaddr, *ret_frames, *ret_count);
	return true;
}

enum symbol_quality symboliser_resolve(struct symboliser *symboliser, const struct module *module,
				       uint32_t module_id, uint64_t vaddr,
				       const struct symbol_frame **ret_frames, size_t *ret_count)
{
	const struct symbol_frame *frame;
	struct module_state *state;

	if (!module || module_id == MODULE_NONE)
		return answer(&unknown_frame, SYMBOL_NONE, ret_frames, ret_count);
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE)
		return symboliser_resolve_kernel(symboliser, vaddr, ret_frames, ret_count);
	frame = find_jit_frame(symboliser, module, module_id, vaddr);
	if (frame)
		return answer(frame, SYMBOL_NAME_ONLY, ret_frames, ret_count);
	state = get_state(symboliser, module, module_id);
	if (!state)
		return answer(NULL, SYMBOL_NONE, ret_frames, ret_count);
	if (state->debug && resolve_lines(symboliser, state, vaddr, ret_frames, ret_count))
		return (*ret_frames)->line > 0 ? SYMBOL_FULL : SYMBOL_NAME_ONLY;
	frame = find_symbol_frame(symboliser, state, vaddr);
	if (frame)
		return answer(frame, SYMBOL_NAME_ONLY, ret_frames, ret_count);
	return answer(
		get_nameless_frame(symboliser, module_id, state->base, find_start(state, vaddr)),
		SYMBOL_NONE, ret_frames, ret_count);
}

const char *symboliser_module_problem(const struct symboliser *symboliser, uint32_t module_id)
{
	const struct module_state *state = find_state(symboliser, module_id);

	return state && state->symbols.problem[0] ? state->symbols.problem : NULL;
}
