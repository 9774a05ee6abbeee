/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/text_window.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "elf/elf.h"

/* The largest programs have 300 MB of code. */
#define BUDGET_BYTES (1ull << 30)

/* Read at once: small enough to stay in the L2 cache until it is used. */
#define PIECE_BYTES (1u << 18)

int text_window_init(struct text_window *window, struct elf_file *elf)
{
	*window = (struct text_window){.elf = elf, .budget_bytes = BUDGET_BYTES};
	/* Zeros: the bytes after the code are read, but not used. */
	window->bytes = calloc(1, TEXT_WINDOW_BYTES + TEXT_WINDOW_MARGIN_BYTES);
	return window->bytes ? 0 : -ENOMEM;
}

void text_window_fini(struct text_window *window)
{
	free(window->bytes);
}

static const struct elf_segment *find_segment(const struct elf_file *elf, uint64_t vaddr)
{
	for (size_t i = 0; i < elf_segment_count(elf); i++) {
		const struct elf_segment *segment = elf_segment_at(elf, i);

		if ((segment->flags & PF_X) && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->file_bytes)
			return segment;
	}
	return NULL;
}

static int move_window(struct text_window *window, uint64_t vaddr, uint64_t wanted)
{
	const struct elf_segment *segment = find_segment(window->elf, vaddr);
	uint64_t skipped;
	uint64_t piece;
	uint64_t size;
	int r;

	window->size = 0;
	if (!segment)
		return -ENOENT;
	skipped = vaddr - segment->vaddr;
	size = segment->file_bytes - skipped;
	piece = wanted > PIECE_BYTES ? wanted : PIECE_BYTES;
	if (size > piece)
		size = piece;
	if (size > window->budget_bytes || segment->offset > UINT64_MAX - skipped)
		return -E2BIG;
	r = elf_read_at(window->elf, segment->offset + skipped, window->bytes, size);
	if (r < 0)
		return r;
	window->budget_bytes -= size;
	window->vaddr = vaddr;
	window->size = size;
	return 0;
}

const uint8_t *text_window_get(struct text_window *window, uint64_t vaddr, uint64_t size)
{
	if (size > TEXT_WINDOW_BYTES)
		return NULL;
	if ((vaddr < window->vaddr || size > window->size ||
	     vaddr - window->vaddr > window->size - size) &&
	    move_window(window, vaddr, size) < 0)
		return NULL;
	return size <= window->size ? window->bytes + (vaddr - window->vaddr) : NULL;
}
