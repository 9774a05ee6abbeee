/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/symbolize.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "libwick/public_error.h"
#include "load/names/resolver.h"

_Static_assert((int)WICK_SYMBOL_FULL == (int)SYMBOL_FULL &&
		       (int)WICK_SYMBOL_NAME == (int)SYMBOL_NAME_ONLY &&
		       (int)WICK_SYMBOL_STRIPPED == (int)SYMBOL_NONE &&
		       (int)WICK_SYMBOL_CORRUPTED == (int)SYMBOL_DAMAGED &&
		       (int)WICK_SYMBOL_INVALID == (int)SYMBOL_INVALID,
	       "public and internal qualities must match");

struct wick_symbolizer {
	struct resolver *resolver;
	struct resolved found;
	VEC(struct wick_symbol_frame) frames;
	char build_id[2 * BUILD_ID_MAX + 1];
};

static int open_resolver(struct resolver_config *config, unsigned int options,
			 const char *const *symbol_paths, struct wick_symbolizer **ret,
			 struct wick_error *err)
{
	struct wick_symbolizer *symbolizer;
	struct error inner = {0};

	if (need(ret, "ret", &inner) < 0)
		return public_error(&inner, err);
	config->demangle = !(options & WICK_SYMBOLIZE_MANGLED);
	config->no_disk_cache = !(options & WICK_SYMBOLIZE_CACHE);
	config->detail = options & WICK_SYMBOLIZE_NAMES_ONLY   ? SYMBOLS_NAMES
			 : options & WICK_SYMBOLIZE_NO_INLINES ? SYMBOLS_LINES
							       : SYMBOLS_INLINES;
	config->symbol_paths = symbol_paths;
	while (symbol_paths && symbol_paths[config->symbol_path_count])
		config->symbol_path_count++;
	symbolizer = calloc(1, sizeof(*symbolizer));
	if (!symbolizer)
		(void)error_set(&inner, -ENOMEM, "no memory for a symbolizer");
	else
		(void)resolver_open(config, &symbolizer->resolver, &inner);
	if (inner.code < 0) {
		free(symbolizer);
		return public_error(&inner, err);
	}
	*ret = symbolizer;
	return 0;
}

int wick_symbolizer_open_file(const char *path, unsigned int options,
			      const char *const *symbol_paths, struct wick_symbolizer **ret,
			      struct wick_error *err)
{
	struct resolver_config config = {.path = path};
	struct error inner = {0};

	if (need(path, "the path", &inner) < 0)
		return public_error(&inner, err);
	return open_resolver(&config, options, symbol_paths, ret, err);
}

int wick_symbolizer_open_pid(pid_t pid, unsigned int options, const char *const *symbol_paths,
			     struct wick_symbolizer **ret, struct wick_error *err)
{
	struct resolver_config config = {.pid = pid};
	struct error inner = {0};

	if (pid <= 0) {
		(void)refuse_pid(pid, &inner);
		return public_error(&inner, err);
	}
	return open_resolver(&config, options, symbol_paths, ret, err);
}

void wick_symbolizer_close(struct wick_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	resolver_close(symbolizer->resolver);
	vec_fini(&symbolizer->frames);
	free(symbolizer);
}

int wick_symbolize(struct wick_symbolizer *symbolizer, uint64_t address, struct wick_symbol *ret)
{
	struct resolved *found;

	if (!symbolizer || !ret)
		return -EINVAL;
	found = &symbolizer->found;
	resolver_find(symbolizer->resolver, address, found);
	if (vec_reserve(&symbolizer->frames, found->count) < 0)
		return -ENOMEM;
	symbolizer->frames.count = found->count;
	for (size_t i = 0; i < found->count; i++)
		symbolizer->frames.items[i] = (struct wick_symbol_frame){
			.function = found->frames[i].function,
			.mangled = found->frames[i].linker,
			.file = found->frames[i].file,
			.line = found->frames[i].line,
			.column = found->frames[i].column,
			.inlined = found->frames[i].inlined,
		};
	symbolizer->build_id[0] = '\0';
	if (found->build_id)
		build_id_format(found->build_id, symbolizer->build_id);
	*ret = (struct wick_symbol){
		.address = address,
		.vaddr = found->vaddr,
		.module = found->module,
		.build_id = symbolizer->build_id,
		.frames = symbolizer->frames.items,
		.frame_count = (uint32_t)found->count,
		.quality = (uint32_t)found->quality,
	};
	return found->quality < SYMBOL_NONE;
}

int wick_symbolize_details(struct wick_symbolizer *symbolizer, struct wick_symbol_details *ret)
{
	struct symbol_details details;
	int r;

	if (!symbolizer || !ret)
		return -EINVAL;
	r = resolver_details(symbolizer->resolver, &symbolizer->found, &details);
	if (r < 0)
		return r;
	*ret = (struct wick_symbol_details){
		.compilation_unit = details.unit,
		.signature = details.signature,
		.row_start = details.row_low,
		.row_end = details.row_high,
		.is_statement = details.is_statement,
		.prologue_end = details.prologue_end,
		.epilogue_begin = details.epilogue_begin,
	};
	return 0;
}
