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
#include "base/path.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/dwarf.h"
#include "elf/elf.h"
#include "model/entity.h"
#include "model/strings.h"
#include "symbol/data_symbols.h"
#include "symbol/debug_file.h"
#include "symbol/debug_info.h"
#include "symbol/elf_symbols.h"
#include "symbol/frame_cache.h"
#include "symbol/go/go_lines.h"
#include "symbol/jit/jit_symbols.h"
#include "symbol/kernel_symbols.h"
#include "symbol/linker_name.h"
#include "symbol/module_symbols.h"
#include "symbol/name_source.h"
#include "symbol/symbol_store.h"
#include "symbol/table_builder.h"

/* Results in memory: a few megabytes, and more than the addresses of most profiles. */
#define KNOWN_ADDRESSES 16384
#define MISSED_ADDRESSES 4096
/* Memory limit of debug information while results, which need memory too, are collected. */
#define READING_BYTES (28u << 20)

static const struct symbol_frame unknown_frame = {.function = "[unknown]"};

struct named_symbol {
	size_t table;
	uint32_t symbol;
	const struct symbol_frame *frame;
};

struct module_state {
	uint32_t id;
	const char *base; /* last part of the path */
	struct module_symbols symbols;
	VEC(struct named_symbol) named; /* those that were found so far */
	struct id_index named_index;
	bool has_lines;           /* and they are wanted */
	struct debug_info *debug; /* opened when a result is not in the store */
	struct symbol_store *store;
	struct data_symbols data; /* read at first use */
	bool has_data;
};

/* A linker name, of which each file has one copy, and how it is shown. */
struct shown_name {
	const char *linker;
	const char *text;
	uint32_t plain_bytes;
};

struct symboliser {
	struct linker_name_style name_style;
	enum symbol_detail detail;
	char **paths;
	size_t path_count;
	const struct symbol_search *live;
	struct cache_dir *cache;
	const struct kernel_symbols *kernel;
	const struct jit_symbols *jit;
	const struct name_source *const *sources;
	uint32_t (*pid_of)(void *self, uint32_t owner);
	void *pid_self;
	struct strings told; /* from name sources */
	uint64_t time_ns;    /* when compiled code is looked up */
	VEC(struct module_state *) modules;
	struct id_index module_index; /* by module id */
	struct table_builder builder;
	struct frame_cache *known;  /* results from debug information */
	struct frame_cache *misses; /* addresses without a result */
	struct symboliser_stats stats;
	VEC(struct shown_name) shown;
	struct id_index shown_index; /* by the linker name's pointer */
	struct dwarf_frames *found;  /* scratch; NULL if not wanted, as the next */
	struct symbol_frame *frames;
	struct symbol_frame nameless; /* the last one, and its text */
	char text[512];
	struct arena arena; /* frames and names */
};

static void scope_release_symboliser(struct symboliser **symboliser)
{
	symboliser_free(*symboliser);
}

/* Whether all files of the debug information were found: only then results may be kept. */
static bool is_whole(const struct module_state *state)
{
	struct dwarf_stats stats;

	if (!state->debug)
		return false; /* nothing new */
	stats = dwarf_stats(debug_info_dwarf(state->debug));
	return stats.missing_dwo == 0 && !stats.missing_alt && !debug_info_is_mixed(state->debug);
}

static void module_state_free(struct module_state *state)
{
	bool is_kept;

	if (!state)
		return;
	vec_fini(&state->named);
	id_index_fini(&state->named_index);
	is_kept = state->store && is_whole(state);
	symbol_store_close(state->store, !is_kept); /* borrows texts */
	debug_info_free(state->debug);
	module_symbols_fini(&state->symbols);
	data_symbols_fini(&state->data);
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
	symboliser->name_style = (struct linker_name_style){
		.demangle = config->demangle,
		.merge_clones = config->merge_clones,
	};
	symboliser->detail = config->detail;
	symboliser->time_ns = UINT64_MAX;
	symboliser->live = config->live;
	symboliser->cache = config->cache;
	symboliser->sources = config->sources;
	symboliser->pid_of = config->pid_of;
	symboliser->pid_self = config->pid_self;
	if (strings_init(&symboliser->told) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (config->detail != SYMBOLS_NAMES) {
		symboliser->found = malloc(sizeof(*symboliser->found));
		symboliser->frames = calloc(DWARF_MAX_FRAMES, sizeof(*symboliser->frames));
		symboliser->known = frame_cache_new(KNOWN_ADDRESSES);
		symboliser->misses = frame_cache_new(MISSED_ADDRESSES);
		if (!symboliser->found || !symboliser->frames || !symboliser->known ||
		    !symboliser->misses)
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
	table_builder_fini(&symboliser->builder);
	for (size_t i = 0; i < symboliser->modules.count; i++)
		module_state_free(symboliser->modules.items[i]);
	vec_fini(&symboliser->modules);
	id_index_fini(&symboliser->module_index);
	frame_cache_free(symboliser->known);
	frame_cache_free(symboliser->misses);
	vec_fini(&symboliser->shown);
	id_index_fini(&symboliser->shown_index);
	free(symboliser->found);
	free(symboliser->frames);
	for (size_t i = 0; i < symboliser->path_count; i++)
		free(symboliser->paths[i]);
	free(symboliser->paths);
	strings_fini(&symboliser->told);
	arena_fini(&symboliser->arena);
	free(symboliser);
}

void symboliser_set_kernel(struct symboliser *symboliser, const struct kernel_symbols *kernel)
{
	symboliser->kernel = kernel;
}

void symboliser_set_jit(struct symboliser *symboliser, const struct jit_symbols *jit)
{
	symboliser->jit = jit;
}

void symboliser_set_time(struct symboliser *symboliser, uint64_t time_ns)
{
	symboliser->time_ns = time_ns;
}

/* The size of a text that is safe to print to a terminal, else 0. */
static uint32_t plain_bytes(const char *text)
{
	const char *at = text;

	for (; *at; at++)
		if (*at < 0x20 || *at > 0x7e)
			return 0;
	return (uint32_t)(at - text);
}

/* How a linker name is shown. The text is NULL without memory. */
static struct shown_name make_shown(struct symboliser *symboliser, const char *linker, bool kernel)
{
	struct shown_name shown = {.linker = linker, .text = linker};
	SCOPED(mem)
	char *text = kernel ? linker_name_show_kernel(linker, symboliser->name_style)
			    : linker_name_show(linker, symboliser->name_style);

	shown.text = text ? arena_strndup(&symboliser->arena, text, strlen(text)) : NULL;
	shown.plain_bytes = shown.text ? plain_bytes(shown.text) : 0;
	return shown;
}

/* The same, created once for each pointer. */
static struct shown_name show_name(struct symboliser *symboliser, const char *linker, bool kernel)
{
	uint64_t hash = hash_pair((uintptr_t)linker, 0);
	struct id_probe probe = id_index_probe(&symboliser->shown_index, hash);
	struct shown_name shown;
	uint32_t id;

	while ((id = id_probe_next(&symboliser->shown_index, &probe)) != ID_NONE)
		if (symboliser->shown.items[id].linker == linker)
			return symboliser->shown.items[id];
	shown = make_shown(symboliser, linker, kernel);
	id = (uint32_t)symboliser->shown.count;
	/* A name that is not in the index is just created again. */
	if (shown.text && vec_push(&symboliser->shown, shown) == 0)
		(void)id_index_add(&symboliser->shown_index, hash, id);
	return shown;
}

/* A frame with copies of the linker name and of how it is shown. NULL without memory. */
static struct symbol_frame *make_frame(struct symboliser *symboliser, const char *linker,
				       const char *text)
{
	struct symbol_frame *frame = arena_alloc(&symboliser->arena, sizeof(*frame));
	/* .symtab says "memcpy@@GLIBC_2.17" where .dynsym says "memcpy". */
	const char *version = strstr(linker, "@@");
	char *kept = arena_strndup(&symboliser->arena, linker,
				   version && version > linker ? (size_t)(version - linker)
							       : strlen(linker));
	char *shown = arena_strndup(&symboliser->arena, text, strlen(text));

	if (!frame || !kept || !shown)
		return NULL;
	*frame = (struct symbol_frame){
		.function = shown, .linker = kept, .plain_bytes = plain_bytes(shown)};
	return frame;
}

static struct symbol_frame *make_named_frame(struct symboliser *symboliser, const char *name)
{
	SCOPED(mem)
	char *text = linker_name_show(name, symboliser->name_style);

	return text ? make_frame(symboliser, name, text) : NULL;
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

static const char *module_name(const struct module *module)
{
	if (module->kind == MODULE_ANONYMOUS)
		return "[anon]";
	if (module->kind == MODULE_VDSO)
		return "[vdso]";
	return path_base_name(module->path);
}

/* Where to search for files of modules. */
static struct symbol_search search_of(const struct symboliser *symboliser)
{
	struct symbol_search search = {.paths = (const char *const *)symboliser->paths,
				       .path_count = symboliser->path_count};

	if (symboliser->live) {
		search.root = symboliser->live->root;
		search.open = symboliser->live->open;
		search.open_self = symboliser->live->open_self;
		search.fetch = symboliser->live->fetch;
		search.fetch_self = symboliser->live->fetch_self;
		search.tables = symboliser->live->tables;
		search.no_files = symboliser->live->no_files;
		search.by_id = symboliser->live->by_id;
	}
	return search;
}

/* Opens the module at its first use, without names unless it is to be read. NULL without memory. */
static struct module_state *get_state(struct symboliser *symboliser, const struct module *module,
				      uint32_t module_id, bool is_read)
{
	struct symbol_search search = search_of(symboliser);
	uint32_t form = (uint32_t)symboliser->detail * 2 + symboliser->name_style.demangle;
	SCOPED(module_state) struct module_state *state = NULL;
	struct module_state *found = find_state(symboliser, module_id);
	const char *base;

	if (found)
		return found;
	base = module_name(module);
	state = calloc(1, sizeof(*state));
	if (!state || vec_reserve(&symboliser->modules, symboliser->modules.count + 1) < 0)
		return NULL;
	state->id = module_id;
	state->base = arena_strndup(&symboliser->arena, base, strlen(base));
	if (!state->base)
		return NULL;
	module_symbols_init(&state->symbols, module, module_id, is_read ? &search : NULL);
	state->has_lines = symboliser->detail != SYMBOLS_NAMES && state->symbols.debug;
	if (state->has_lines && symboliser->cache) {
		struct file_identity file = elf_identity(state->symbols.debug);

		state->store = symbol_store_open(symboliser->cache, &module->build_id, &file, form);
	}
	if (id_index_add(&symboliser->module_index, hash_pair(module_id, 0),
			 (uint32_t)symboliser->modules.count) < 0)
		return NULL;
	found = scope_take(&state);
	symboliser->modules.items[symboliser->modules.count++] = found;
	return found;
}

/* The frame of a symbol, created at its first use; NULL if it has no name. */
static const struct symbol_frame *frame_of_symbol(struct symboliser *symboliser,
						  struct module_state *state, size_t table,
						  uint32_t symbol)
{
	uint64_t hash = hash_pair(table, symbol);
	struct id_probe probe = id_index_probe(&state->named_index, hash);
	struct symbol_frame *frame;
	struct elf_symbol found;
	uint32_t i;

	while ((i = id_probe_next(&state->named_index, &probe)) != ID_NONE)
		if (state->named.items[i].table == table && state->named.items[i].symbol == symbol)
			return state->named.items[i].frame;
	if (symbol == ELF_SYMBOL_NONE)
		return NULL;
	found = elf_symbols_at(state->symbols.tables[table], symbol);
	frame = found.name[0] ? make_named_frame(symboliser, found.name) : NULL;
	if (!frame)
		return NULL;
	frame->start = found.start;
	/* Without memory it is just made again. */
	if (vec_push(&state->named, (struct named_symbol){table, symbol, frame}) == 0)
		(void)id_index_add(&state->named_index, hash, (uint32_t)state->named.count - 1);
	return frame;
}

struct table_builder *symboliser_builder(struct symboliser *symboliser)
{
	return &symboliser->builder;
}

bool symboliser_is_ready(struct symboliser *symboliser, const struct module *module,
			 uint32_t module_id, uint64_t deadline_ns)
{
	struct symbol_search search = search_of(symboliser);
	enum table_state table;

	if (!search.tables || find_state(symboliser, module_id))
		return true;
	table = table_builder_look(&symboliser->builder, module, module_id, &search, deadline_ns);
	/* Opened at once, so that it stays ready. */
	return table != TABLE_PENDING &&
	       get_state(symboliser, module, module_id, table == TABLE_READY);
}

static const struct symbol_frame *find_symbol_frame(struct symboliser *symboliser,
						    struct module_state *state, uint64_t vaddr)
{
	for (size_t i = 0; i < state->symbols.table_count; i++) {
		uint32_t symbol = elf_symbols_find(state->symbols.tables[i], vaddr);
		const struct symbol_frame *frame = frame_of_symbol(symboliser, state, i, symbol);

		if (frame)
			return frame;
	}
	return NULL;
}

/* Where the nameless function starts; the address itself if that is unknown. */
static uint64_t find_start(const struct module_state *state, uint64_t vaddr)
{
	for (size_t i = 0; i < state->symbols.table_count; i++) {
		uint32_t symbol = elf_symbols_find(state->symbols.tables[i], vaddr);

		if (symbol != ELF_SYMBOL_NONE)
			return elf_symbols_at(state->symbols.tables[i], symbol).start;
	}
	return vaddr;
}

/* Describes where an address without a name is. */
static const struct symbol_frame *get_nameless_frame(struct symboliser *symboliser,
						     enum symbol_quality quality, const char *base,
						     uint64_t address)
{
	/* NAME_MAX fits. */
	if (quality == SYMBOL_INVALID)
		(void)snprintf(symboliser->text, sizeof(symboliser->text),
			       "<invalid address 0x%" PRIx64 ">", address);
	else if (quality == SYMBOL_DAMAGED)
		(void)snprintf(symboliser->text, sizeof(symboliser->text),
			       "<corrupted>+0x%" PRIx64 " [%s]", address, base);
	else
		(void)snprintf(symboliser->text, sizeof(symboliser->text), "%s+0x%" PRIx64, base,
			       address);
	symboliser->nameless = (struct symbol_frame){.function = symboliser->text};
	return &symboliser->nameless;
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
	struct kernel_symbol symbol;
	struct shown_name shown;

	if (!symboliser->kernel || !kernel_symbols_find(symboliser->kernel, address, &symbol))
		return answer(get_nameless_frame(symboliser, SYMBOL_NONE, "[kernel]", address),
			      SYMBOL_NONE, ret_frames, ret_count);
	shown = show_name(symboliser, symbol.name, true);
	if (!shown.text)
		return answer(NULL, SYMBOL_NONE, ret_frames, ret_count);
	symboliser->nameless = (struct symbol_frame){
		.function = shown.text, .linker = symbol.name, .plain_bytes = shown.plain_bytes};
	return answer(&symboliser->nameless, SYMBOL_NAME_ONLY, ret_frames, ret_count);
}

/* The frame of compiled code in anonymous memory, NULL without a name. */
static const struct symbol_frame *find_jit_frame(struct symboliser *symboliser,
						 const struct module *module, uint64_t address)
{
	struct jit_symbol symbol;

	if (module->kind != MODULE_ANONYMOUS || !symboliser->jit ||
	    !jit_symbols_find(symboliser->jit, module->owner, address, symboliser->time_ns,
			      &symbol))
		return NULL;
	symboliser->nameless = (struct symbol_frame){.function = symbol.name,
						     .file = symbol.file,
						     .line = symbol.line,
						     .start = symbol.start,
						     .plain_bytes = plain_bytes(symbol.name)};
	return &symboliser->nameless;
}

/* Keeps a text of a name source; NULL without memory or text. */
static const char *keep_told(struct symboliser *symboliser, const char *text)
{
	uint32_t id = text && *text ? strings_add(&symboliser->told, text) : ID_NONE;

	return id == ID_NONE ? NULL : strings_get(&symboliser->told, id);
}

/* Asks the name sources about an address without a name; NULL if none knows it. */
static const struct symbol_frame *ask_others(struct symboliser *symboliser,
					     const struct module *module, uint64_t vaddr)
{
	struct name_query query = {.module = "", .vaddr = vaddr};
	struct name_answer told = {0};
	const struct name_source *const *source = symboliser->sources;
	SCOPED(mem) char *shown = NULL;

	if (module && module->kind != MODULE_ANONYMOUS) {
		query.module = module->path;
		query.build_id = &module->build_id;
	} else if (module && symboliser->pid_of) {
		query.pid = symboliser->pid_of(symboliser->pid_self, module->owner);
	}
	while (source && *source && !(*source)->find((*source)->self, &query, &told))
		source++;
	if (!source || !*source)
		return NULL;
	shown = linker_name_show(told.function, symboliser->name_style);
	symboliser->nameless = (struct symbol_frame){
		.function = keep_told(symboliser, shown),
		.linker = keep_told(symboliser, told.function),
		.file = keep_told(symboliser, told.file),
		.line = told.line,
	};
	return symboliser->nameless.function ? &symboliser->nameless : NULL;
}

/* The result for an address that has no name in any file. */
static enum symbol_quality answer_nameless(struct symboliser *symboliser,
					   const struct module *module,
					   const struct module_state *state, uint64_t vaddr,
					   const struct symbol_frame **ret_frames,
					   size_t *ret_count)
{
	const struct symbol_frame *frame = ask_others(symboliser, module, vaddr);
	enum symbol_quality quality = SYMBOL_INVALID;

	if (frame)
		return answer(frame, frame->line > 0 ? SYMBOL_FULL : SYMBOL_NAME_ONLY, ret_frames,
			      ret_count);
	if (state)
		quality = state->symbols.lack == SYMBOLS_LACK_SENSE ? SYMBOL_DAMAGED : SYMBOL_NONE;
	return answer(get_nameless_frame(symboliser, quality, state ? state->base : "",
					 quality == SYMBOL_NONE ? find_start(state, vaddr) : vaddr),
		      quality, ret_frames, ret_count);
}

/* Fills a frame from debug information. False without memory. */
static bool fill_frame(struct symboliser *symboliser, const struct dwarf_frame *from,
		       struct symbol_frame *ret)
{
	*ret = (struct symbol_frame){
		.function = "[inlined]",
		.file = from->file,
		.tree = from->tree,
		.line = from->line,
		.column = from->column,
		.inlined = from->inlined,
		.start = from->low,
	};
	if (!from->name)
		return true;
	ret->function = from->name;
	if (!from->mangled) {
		ret->plain_bytes = plain_bytes(from->name);
	} else {
		struct shown_name shown = show_name(symboliser, from->name, false);

		ret->linker = from->name;
		ret->function = shown.text;
		ret->plain_bytes = shown.plain_bytes;
	}
	return ret->function;
}

/*
 * Makes the frames from debug information in symboliser->frames. The function itself keeps the name
 * of its symbol (own, or NULL), which distinguishes parts and clones. Returns their number, 0
 * without lines, or -ENOMEM.
 */
static int make_line_frames(struct symboliser *symboliser, struct module_state *state,
			    uint64_t vaddr, const struct symbol_frame *own)
{
	const struct dwarf_frames *found = symboliser->found;
	struct symbol_frame *frames = symboliser->frames;
	int count = dwarf_find(debug_info_dwarf(state->debug), vaddr, symboliser->found);
	size_t skipped =
		symboliser->detail == SYMBOLS_INLINES || count <= 0 ? 0 : (size_t)count - 1;
	struct symbol_frame *last;

	if (count <= 0)
		return count;
	if (!own && !found->items[count - 1].name)
		return 0;
	if (own) /* has a name already */
		symboliser->found->items[count - 1].name = NULL;
	for (size_t i = skipped; i < found->count; i++)
		if (!fill_frame(symboliser, &found->items[i], &frames[i - skipped]))
			return -ENOMEM;
	last = &frames[(size_t)count - skipped - 1];
	if (own) {
		last->function = own->function;
		last->linker = own->linker;
		last->plain_bytes = own->plain_bytes;
		last->start = own->start;
	}
	return count - (int)skipped;
}

/* Opens the debug information when first needed. */
static bool open_lines(struct module_state *state)
{
	if (!state->debug && state->symbols.debug)
		state->debug = debug_info_open(scope_take(&state->symbols.debug),
					       state->symbols.debug_path);
	if (!state->debug)
		state->has_lines = false;
	else if (state->store)
		dwarf_set_limit(debug_info_dwarf(state->debug), READING_BYTES);
	return state->debug;
}

/* A new result from debug information; returns the number of frames. */
static size_t read_lines(struct symboliser *symboliser, struct module_state *state, uint64_t vaddr)
{
	int count;

	if (!open_lines(state))
		return 0;
	count = make_line_frames(symboliser, state, vaddr,
				 find_symbol_frame(symboliser, state, vaddr));
	if (count < 0)
		return 0;
	/* A result that is not kept because memory ran out is just read again. */
	if (count == 0)
		(void)frame_cache_add(symboliser->misses, state->id, vaddr, &unknown_frame, 1, 0);
	else
		(void)frame_cache_add(symboliser->known, state->id, vaddr, symboliser->frames,
				      (size_t)count, 0);
	if (state->store)
		symbol_store_add(state->store, vaddr, symboliser->frames, (size_t)count);
	return (size_t)count;
}

/*
 * A result from the caches of debug information, or else from it; false if it has none. The one on
 * disk is searched first: it takes no longer, and if there is one it has most results.
 */
static bool resolve_lines(struct symboliser *symboliser, struct module_state *state, uint64_t vaddr,
			  const struct symbol_frame **ret_frames, size_t *ret_count)
{
	int kept = state->store ? symbol_store_find(state->store, vaddr, symboliser->frames,
						    DWARF_MAX_FRAMES)
				: -ENOENT;
	int tag;

	symboliser->stats.lookups++;
	*ret_frames = symboliser->frames;
	*ret_count = kept > 0 ? (size_t)kept : 0;
	if (kept >= 0) {
		symboliser->stats.disk_hits++;
		return kept > 0;
	}
	*ret_frames = frame_cache_find(symboliser->known, state->id, vaddr, ret_count, &tag);
	if (*ret_frames) {
		symboliser->stats.hits++;
		return true;
	}
	if (frame_cache_find(symboliser->misses, state->id, vaddr, ret_count, &tag)) {
		symboliser->stats.miss_hits++;
		return false;
	}
	*ret_frames = symboliser->frames;
	*ret_count = read_lines(symboliser, state, vaddr);
	return *ret_count > 0;
}

/* A named frame of a Go program with the line from its runtime, or without one. */
static enum symbol_quality answer_go(struct symboliser *symboliser, struct module_state *state,
				     uint64_t vaddr, const struct symbol_frame **ret_frames,
				     size_t *ret_count)
{
	struct symbol_frame *frame = &symboliser->frames[0];

	*frame = *find_symbol_frame(symboliser, state, vaddr);
	return answer(frame,
		      go_lines_find(state->symbols.go, vaddr, &frame->file, &frame->line)
			      ? SYMBOL_FULL
			      : SYMBOL_NAME_ONLY,
		      ret_frames, ret_count);
}

enum symbol_quality symboliser_resolve(struct symboliser *symboliser, const struct module *module,
				       uint32_t module_id, uint64_t vaddr,
				       const struct symbol_frame **ret_frames, size_t *ret_count)
{
	const struct symbol_frame *frame;
	struct module_state *state;

	if (!module || module_id == MODULE_NONE)
		return answer_nameless(symboliser, NULL, NULL, vaddr, ret_frames, ret_count);
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE)
		return symboliser_resolve_kernel(symboliser, vaddr, ret_frames, ret_count);
	frame = find_jit_frame(symboliser, module, vaddr);
	if (frame)
		return answer(frame, frame->line > 0 ? SYMBOL_FULL : SYMBOL_NAME_ONLY, ret_frames,
			      ret_count);
	state = get_state(symboliser, module, module_id, true);
	if (!state)
		return answer(NULL, SYMBOL_NONE, ret_frames, ret_count);
	if (state->has_lines && resolve_lines(symboliser, state, vaddr, ret_frames, ret_count))
		return (*ret_frames)->line > 0 ? SYMBOL_FULL : SYMBOL_NAME_ONLY;
	frame = find_symbol_frame(symboliser, state, vaddr);
	if (frame && state->symbols.go && symboliser->detail != SYMBOLS_NAMES)
		return answer_go(symboliser, state, vaddr, ret_frames, ret_count);
	if (frame)
		return answer(frame, SYMBOL_NAME_ONLY, ret_frames, ret_count);
	return answer_nameless(symboliser, module, state, vaddr, ret_frames, ret_count);
}

const char *symboliser_resolve_data(struct symboliser *symboliser, const struct module *module,
				    uint32_t module_id, uint64_t vaddr, uint64_t *ret_offset)
{
	struct module_state *state = get_state(symboliser, module, module_id, true);
	const char *linker;

	if (!state)
		return NULL;
	if (!state->has_data) {
		struct symbol_search search = search_of(symboliser);

		module_symbols_read_data(module, module_id, &search, &state->data);
		state->has_data = true;
	}
	linker = data_symbols_find(&state->data, vaddr, ret_offset);
	return linker ? show_name(symboliser, linker, false).text : NULL;
}

const char *symboliser_module_problem(const struct symboliser *symboliser, uint32_t module_id)
{
	const struct module_state *state = find_state(symboliser, module_id);

	return state && state->symbols.problem[0] ? state->symbols.problem : NULL;
}

bool symboliser_module_is_lost(const struct symboliser *symboliser, uint32_t module_id)
{
	const struct module_state *state = find_state(symboliser, module_id);

	return state && state->symbols.lack == SYMBOLS_LACK_FILE;
}

bool symboliser_module_has_lines(const struct symboliser *symboliser, uint32_t module_id)
{
	const struct module_state *state = find_state(symboliser, module_id);

	return state && (state->has_lines || state->symbols.go);
}

struct symbol_writer symboliser_module_writer(const struct symboliser *symboliser,
					      uint32_t module_id)
{
	const struct module_state *state = find_state(symboliser, module_id);

	if (!state)
		return (struct symbol_writer){0};
	return state->debug
		       ? symbol_writer_join(state->symbols.writer, debug_info_writer(state->debug))
		       : state->symbols.writer;
}

int symboliser_details(struct symboliser *symboliser, uint32_t module_id, uint64_t vaddr,
		       struct symbol_details *ret)
{
	struct module_state *state = find_state(symboliser, module_id);
	struct dwarf_details details;
	int r;

	if (!state || !state->has_lines || !open_lines(state))
		return -ENOENT;
	r = dwarf_find_details(debug_info_dwarf(state->debug), vaddr, &details);
	if (r < 0)
		return r;
	*ret = (struct symbol_details){
		.unit = details.unit,
		.signature = details.signature,
		.row_low = details.row_low,
		.row_high = details.row_high,
		.is_statement = details.is_statement,
		.prologue_end = details.prologue_end,
		.epilogue_begin = details.epilogue_begin,
	};
	return 0;
}

struct symboliser_stats symboliser_stats(const struct symboliser *symboliser)
{
	return symboliser->stats;
}
