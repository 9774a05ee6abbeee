/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/x64_bare.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/vec.h"
#include "cfi/arch/x64_code.h"
#include "cfi/rows.h"
#include "cfi/text_window.h"
#include "elf/elf.h"

/* crtbegin's functions have 190 bytes together. Anything larger is another kind of code. */
#define MAX_PIECE_BYTES 512u
#define MAX_PLT_BYTES (256u << 10)
#define MAX_TARGETS 8
#define ENTRY_BYTES 8 /* from sp to the CFA at the start of a function */
#define MAX_FRAME_BYTES 4096

/* What applies at an instruction. */
struct depth {
	int32_t bytes; /* from sp to the CFA */
	int32_t fp;    /* where the caller's frame pointer is, from the CFA; 0: in its register */
};

struct target {
	uint32_t pc;
	struct depth depth;
};

/* Code without CFI; pcs are relative to the table's base. */
struct piece {
	uint32_t start;
	uint32_t end;
	bool is_plt;
};

struct sweep {
	struct rows *rows;
	struct target targets[MAX_TARGETS]; /* the latest ones that are still ahead */
	size_t target_count;
	struct depth depth;
};

typedef VEC(struct piece) piece_list;

static int add_row(struct sweep *sweep, uint32_t pc)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_SP,
				   .cfa_offset = sweep->depth.bytes,
				   .ra = UNWIND_RA_AT_CFA,
				   .ra_offset = -8,
				   .fp = UNWIND_FP_SAME};

	if (sweep->depth.fp != 0) {
		rule.fp = UNWIND_FP_AT_CFA;
		rule.fp_offset = sweep->depth.fp;
	}
	return rows_add(sweep->rows, pc, &rule);
}

static void note_target(struct sweep *sweep, uint32_t pc)
{
	sweep->targets[sweep->target_count++ % MAX_TARGETS] = (struct target){pc, sweep->depth};
}

/* After the end of a path: the depth at a branch to here, or that of a new function. */
static struct depth depth_at(const struct sweep *sweep, uint32_t pc)
{
	for (size_t i = 0; i < MAX_TARGETS && i < sweep->target_count; i++)
		if (sweep->targets[i].pc == pc)
			return sweep->targets[i].depth;
	return (struct depth){.bytes = ENTRY_BYTES};
}

/* Applies an instruction; false if it is invalid here. */
static bool follow(struct sweep *sweep, const struct x64_instruction *instruction, uint32_t next)
{
	struct depth *depth = &sweep->depth;

	depth->bytes += instruction->pushed;
	if (depth->bytes < ENTRY_BYTES || depth->bytes > MAX_FRAME_BYTES)
		return false;
	if (instruction->fp == X64_FP_PUSHED && depth->fp == 0)
		depth->fp = -depth->bytes;
	else if (instruction->fp == X64_FP_POPPED)
		depth->fp = 0;
	if (instruction->flow == X64_BRANCH || instruction->flow == X64_JUMP)
		note_target(sweep, next + (uint32_t)instruction->target);
	if (instruction->flow == X64_JUMP || instruction->flow == X64_END)
		*depth = depth_at(sweep, next);
	return true;
}

/* Other entries, which have pushed a number, jump to the first entry of a PLT. */
static bool is_lazy_plt(const struct piece *piece, const uint8_t *code, size_t size)
{
	return piece->is_plt && size >= 2 && code[0] == 0xff && code[1] == 0x35;
}

static int sweep_piece(struct rows *rows, const struct piece *piece, const uint8_t *code)
{
	struct sweep sweep = {.rows = rows, .depth = {.bytes = ENTRY_BYTES}};
	size_t size = piece->end - piece->start;
	size_t at = 0;
	int r = rows_begin(rows, piece->start, piece->end, true);

	if (is_lazy_plt(piece, code, size))
		sweep.depth.bytes += 8;
	while (r == 0 && at < size) {
		struct x64_instruction instruction;
		uint32_t pc = piece->start + (uint32_t)at;

		if (!x64_decode(code + at, size - at, &instruction))
			break;
		r = add_row(&sweep, pc);
		if (r < 0 || !follow(&sweep, &instruction, pc + (uint32_t)instruction.size))
			break;
		at += instruction.size;
	}
	if (r < 0)
		return r;
	if (at == 0)
		rows_cancel(rows);
	else
		rows->functions.items[rows->functions.count - 1].end = piece->start + (uint32_t)at;
	return 0;
}

/* The parts of a section that no function covers. Functions are sorted. */
static int find_pieces(const struct rows *rows, struct piece whole, size_t *first, piece_list *ret)
{
	uint32_t most = whole.is_plt ? MAX_PLT_BYTES : MAX_PIECE_BYTES;
	uint32_t at = whole.start;

	while (at < whole.end) {
		const struct rows_function *next = NULL;
		uint32_t end = whole.end;

		while (*first < rows->functions.count && rows->functions.items[*first].end <= at)
			(*first)++;
		if (*first < rows->functions.count)
			next = &rows->functions.items[*first];
		if (next && next->start < end)
			end = next->start;
		if (end > at && end - at <= most &&
		    vec_push(ret, (struct piece){at, end, whole.is_plt}) < 0)
			return -ENOMEM;
		at = next && next->start < whole.end ? next->end : whole.end;
	}
	return 0;
}

static int find_all_pieces(const struct elf_file *elf, uint64_t base, const struct rows *rows,
			   piece_list *ret)
{
	for (size_t i = 0; i < elf_section_count(elf); i++) {
		const struct elf_section *section = elf_section_at(elf, i);
		uint64_t start = section->addr - base;
		size_t first = 0;
		int r;

		if (section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR) ||
		    section->addr < base || start >= UINT32_MAX ||
		    section->size >= UINT32_MAX - start)
			continue;
		struct piece whole = {(uint32_t)start, (uint32_t)(start + section->size),
				      section->name && strncmp(section->name, ".plt", 4) == 0};
		r = find_pieces(rows, whole, &first, ret);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * The program's entry point extends to the end of its piece, and nobody called it: the arguments
 * are on its stack. (Mostly the dynamic linker's entry; that of programs has CFI which says so.)
 */
static int add_entry(struct rows *rows, const struct piece *piece)
{
	static const struct unwind_rule root = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT};
	int r = rows_begin(rows, piece->start, piece->end, true);

	return r < 0 ? r : rows_add(rows, piece->start, &root);
}

/* Cuts the entry point off a piece that contains it. */
static int split_at_entry(const struct elf_file *elf, uint64_t base, struct rows *rows,
			  struct piece *piece)
{
	uint64_t entry = elf_entry(elf) - base;
	struct piece rest = *piece;

	if (entry < piece->start || entry >= piece->end)
		return 0;
	rest.start = piece->end = (uint32_t)entry;
	return add_entry(rows, &rest);
}

int cfi_add_bare_x64(struct elf_file *elf, uint64_t base, struct rows *rows)
{
	struct text_window window;
	piece_list pieces = {0};
	int r = text_window_init(&window, elf);

	if (r < 0)
		return r;
	r = find_all_pieces(elf, base, rows, &pieces);
	for (size_t i = 0; r == 0 && i < pieces.count; i++) {
		struct piece *piece = &pieces.items[i];
		const uint8_t *code;

		r = split_at_entry(elf, base, rows, piece);
		if (r < 0 || piece->start == piece->end)
			continue;
		code = text_window_get(&window, base + piece->start, piece->end - piece->start);
		if (code)
			r = sweep_piece(rows, piece, code);
	}
	vec_fini(&pieces);
	text_window_fini(&window);
	return r;
}
