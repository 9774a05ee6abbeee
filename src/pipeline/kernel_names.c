/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/kernel_names.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "model/dictionary.h"
#include "recording/writer.h"
#include "symbol/kernel_symbols.h"

struct starts {
	VEC(uint64_t) list;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The starts of all kernel functions that frames lie in, in any order, with repeats. */
static void collect(const struct dictionary *dictionary, const struct kernel_symbols *symbols,
		    struct starts *starts)
{
	size_t i;

	for (i = 0; i < dictionary->frames.count; i++) {
		const struct frame *frame = &dictionary->frames.items[i];
		struct kernel_symbol symbol;

		if (frame->kind != FRAME_KERNEL)
			continue;
		/* A frame may be looked up by its address (leaf) or the one before (caller). */
		if (kernel_symbols_find(symbols, frame->b, &symbol))
			(void)vec_push(&starts->list, symbol.start);
		if (kernel_symbols_find(symbols, frame->b - 1, &symbol))
			(void)vec_push(&starts->list, symbol.start);
	}
}

static bool has_kernel_frames(const struct dictionary *dictionary)
{
	size_t i;

	for (i = 0; i < dictionary->frames.count; i++)
		if (dictionary->frames.items[i].kind == FRAME_KERNEL)
			return true;
	return false;
}

void kernel_names_write(struct recording_writer *writer)
{
	const struct dictionary *dictionary = recording_writer_dictionary(writer);
	struct kernel_symbols *symbols;
	struct starts starts = {0};
	struct error err;
	size_t i;

	if (!has_kernel_frames(dictionary))
		return;
	if (kernel_symbols_read("/proc/kallsyms", &symbols, &err) < 0) {
		log_debug("kernel symbols: %s", err.text);
		recording_writer_info(writer, "kernel_symbols", err.text);
		return;
	}
	collect(dictionary, symbols, &starts);
	if (starts.list.count > 0)
		qsort(starts.list.items, starts.list.count, sizeof(uint64_t), compare);
	for (i = 0; i < starts.list.count; i++) {
		struct kernel_symbol symbol;

		if (i > 0 && starts.list.items[i] == starts.list.items[i - 1])
			continue;
		if (kernel_symbols_find(symbols, starts.list.items[i], &symbol))
			recording_writer_kernel_symbol(writer, symbol.start, symbol.size,
						       symbol.name, symbol.module);
	}
	vec_fini(&starts.list);
	kernel_symbols_free(symbols);
}
