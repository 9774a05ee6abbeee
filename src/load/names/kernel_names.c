/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/kernel_names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "import/import.h"
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

/* The start addresses of all kernel functions in frames, unsorted, with duplicates. */
static void collect(const struct dictionary *dictionary, const struct kernel_symbols *symbols,
		    struct starts *starts)
{
	size_t i;

	for (i = 0; i < dictionary->frames.count; i++) {
		const struct frame *frame = &dictionary->frames.items[i];
		struct kernel_symbol symbol;

		if (frame->kind != FRAME_KERNEL)
			continue;
		/*
		 * A frame may be looked up by its address (leaf) or by the address before it
		 * (caller).
		 */
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

/* Writes the known names into the recording. */
static void write_names(struct recording_writer *writer, const struct kernel_symbols *symbols)
{
	struct starts starts = {0};
	size_t i;

	collect(recording_writer_dictionary(writer), symbols, &starts);
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
}

/* The kernel symbols if stacks need them, else NULL; on failure the recording says why. */
static struct kernel_symbols *read_if_needed(struct recording_writer *writer)
{
	struct kernel_symbols *symbols;
	struct error err;

	if (!has_kernel_frames(recording_writer_dictionary(writer)))
		return NULL;
	if (kernel_symbols_read("/proc/kallsyms", &symbols, &err) == 0)
		return symbols;
	log_debug("kernel symbols: %s", err.text);
	recording_writer_info(writer, "kernel_symbols", err.text);
	return NULL;
}

void kernel_names_write(struct recording_writer *writer)
{
	struct kernel_symbols *symbols = read_if_needed(writer);

	if (symbols)
		write_names(writer, symbols);
	kernel_symbols_free(symbols);
}

/* The build id of the running kernel. */
static bool read_build_id(struct build_id *ret)
{
	_Alignas(8) uint8_t notes[4096];
	SCOPED(file) FILE *file = fopen("/sys/kernel/notes", "re");
	size_t n = file ? fread(notes, 1, sizeof(notes), file) : 0;

	return build_id_of_notes(notes, n, 4, ret);
}

/* Why the running kernel is not the given one; NULL: it is. */
static const char *difference(const struct import_kernel *kernel,
			      const struct kernel_symbols *symbols)
{
	struct kernel_symbol symbol;
	struct build_id running;
	struct utsname name;

	if (kernel->build_id.size > 0 && read_build_id(&running)) {
		if (!build_id_equal(&kernel->build_id, &running))
			return "recorded under another kernel (build id differs)";
	} else if (uname(&name) < 0 || strcmp(name.release, kernel->release) != 0) {
		return *kernel->release
			       ? "recorded under another kernel (release differs)"
			       : "the file does not say under which kernel it was recorded";
	}
	/* The kernel is at another address after each boot. */
	if (kernel->symbol[0] == '\0')
		return "the file does not say at which address the kernel was loaded";
	if (!kernel_symbols_find(symbols, kernel->address, &symbol) ||
	    symbol.start != kernel->address)
		return "recorded during another boot: the kernel is at another address now";
	return NULL;
}

void kernel_names_if_same(struct recording_writer *writer, const struct import_kernel *kernel)
{
	struct kernel_symbols *symbols = read_if_needed(writer);
	const char *why = symbols ? difference(kernel, symbols) : NULL;

	if (why)
		recording_writer_info(writer, "kernel_symbols", why);
	else if (symbols)
		write_names(writer, symbols);
	kernel_symbols_free(symbols);
}
