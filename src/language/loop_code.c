/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/loop_code.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cfi/eh_frame.h"
#include "cfi/frames.h"
#include "elf/elf.h"
#include "elf/elf_function.h"

#define LOOP_BYTES_MAX (4u << 20)
#define JUMPS_MAX 65536u
#define NAME_MAX_BYTES 64u
/* A moved part has many entries; a function that the loop ends in, one. */
#define LEAST_ENTRIES 4u

/* Compilers add these to the names of parts that they move. */
static const char *const endings[LOOP_RANGES] = {"", ".cold", ".part.0", ".part.0.cold"};

static int64_t signed_bits(uint32_t value, unsigned int bits)
{
	uint32_t sign = 1u << (bits - 1);

	return (int64_t)((value & (2 * sign - 1)) ^ sign) - (int64_t)sign;
}

/* The distance of a jump in bytes; 0: it is none. */
static int64_t jump_a64(const uint8_t *at)
{
	uint32_t code;

	memcpy(&code, at, sizeof(code));
	if (code >> 26 == 0x05) /* b */
		return signed_bits(code, 26) * 4;
	if ((code & 0xff000010u) == 0x54000000u || (code & 0x7e000000u) == 0x34000000u)
		return signed_bits(code >> 5, 19) * 4; /* b.cond, cbz, cbnz */
	if ((code & 0x7e000000u) == 0x36000000u)       /* tbz, tbnz */
		return signed_bits(code >> 5, 14) * 4;
	return 0;
}

/* Of a long conditional or unconditional jump, from its start. */
static int64_t jump_x64(const uint8_t *at)
{
	int32_t distance;

	if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80) {
		memcpy(&distance, at + 2, sizeof(distance));
		return (int64_t)distance + 6;
	}
	if (at[0] == 0xe9) {
		memcpy(&distance, at + 1, sizeof(distance));
		return (int64_t)distance + 5;
	}
	return 0;
}

static int64_t call_a64(const uint8_t *at)
{
	uint32_t code;

	memcpy(&code, at, sizeof(code));
	return code >> 26 == 0x25 ? signed_bits(code, 26) * 4 : 0; /* bl */
}

static int64_t call_x64(const uint8_t *at)
{
	int32_t distance;

	memcpy(&distance, at + 1, sizeof(distance));
	return at[0] == 0xe8 ? (int64_t)distance + 5 : 0;
}

static size_t find_targets(const struct code_bytes *code, int64_t (*distance_of)(const uint8_t *),
			   uint64_t *ret, size_t most)
{
	/* On x86-64 every byte may begin an instruction: wrong ones lead to places at random. */
	size_t step = code->machine == EM_AARCH64 ? 4 : 1;
	size_t room = code->machine == EM_AARCH64 ? 4 : 6;
	size_t count = 0;

	for (size_t i = 0; i + room <= code->size && count < most; i += step) {
		int64_t distance = distance_of(code->bytes + i);
		uint64_t target = code->vaddr + i + (uint64_t)distance;

		if (distance != 0 && target - code->vaddr >= code->size)
			ret[count++] = target;
	}
	return count;
}

size_t loop_code_jumps(const struct code_bytes *code, uint64_t *ret, size_t most)
{
	return find_targets(code, code->machine == EM_AARCH64 ? jump_a64 : jump_x64, ret, most);
}

size_t loop_code_calls(const struct code_bytes *code, uint64_t *ret, size_t most)
{
	return find_targets(code, code->machine == EM_AARCH64 ? call_a64 : call_x64, ret, most);
}

/* What a search for functions is given, and what it has found. */
struct search {
	const uint64_t *targets;
	size_t count;
	uint64_t least; /* a better one has more of what is compared */
	struct language_range *ret;
	bool found;
};

static void choose(struct search *search, const struct frame_fde *fde, uint64_t value)
{
	if (value < search->least)
		return;
	search->least = value + 1;
	*search->ret = (struct language_range){.start = fde->start, .end = fde->start + fde->size};
	search->found = true;
}

/* The function in which most of the jumps end, if they are not all to its start. */
static void compare_entries(struct search *search, const struct frame_fde *fde)
{
	size_t entries = 0;

	for (size_t i = 0; i < search->count; i++)
		entries += search->targets[i] - fde->start - 1 < fde->size - 1;
	choose(search, fde, entries);
}

/* The largest function that is called. */
static void compare_sizes(struct search *search, const struct frame_fde *fde)
{
	bool is_called = false;

	for (size_t i = 0; i < search->count && !is_called; i++)
		is_called = search->targets[i] == fde->start;
	if (is_called)
		choose(search, fde, fde->size);
}

static void search_functions(struct elf_file *elf, struct search *search,
			     void (*compare)(struct search *, const struct frame_fde *))
{
	struct frame_section section = {.is_eh = true};
	struct frame_reader *reader = NULL;
	struct elf_section eh_frame;
	struct frame_fde fde;
	void *data = NULL;

	if (search->count == 0 || !cfi_find_eh_frame(elf, &eh_frame) ||
	    elf_section_read(elf, &eh_frame, &data, &section.size, NULL) < 0)
		return;
	section.data = data;
	section.vaddr = eh_frame.addr;
	reader = frame_reader_new(&section);
	while (reader && frame_reader_next(reader, &fde) > 0)
		compare(search, &fde);
	frame_reader_free(reader);
	free(data);
}

/* The targets of a function's jumps or calls. The caller frees *ret. Returns their number. */
static size_t targets_of(struct elf_file *elf, const struct language_range *function,
			 size_t (*find)(const struct code_bytes *, uint64_t *, size_t),
			 uint64_t **ret)
{
	size_t size = (size_t)(function->end - function->start);
	uint8_t *bytes = size <= LOOP_BYTES_MAX ? malloc(size) : NULL;
	uint64_t *targets = malloc(JUMPS_MAX * sizeof(*targets));
	uint64_t offset;
	size_t count = 0;

	if (bytes && targets && elf_vaddr_to_offset(elf, function->start, &offset) == 0 &&
	    elf_read_at(elf, offset, bytes, size) == 0) {
		struct code_bytes code = {elf_machine(elf), bytes, size, function->start};

		count = find(&code, targets, JUMPS_MAX);
	}
	free(bytes);
	*ret = targets;
	return count;
}

/* The part of a function that was moved away. */
static bool follow_jumps(struct elf_file *elf, const struct language_range *loop,
			 struct language_range *ret)
{
	struct search search = {.least = LEAST_ENTRIES, .ret = ret};
	uint64_t *targets;

	search.count = targets_of(elf, loop, loop_code_jumps, &targets);
	search.targets = targets;
	search_functions(elf, &search, compare_entries);
	free(targets);
	return search.found;
}

bool loop_code_callee(struct elf_file *elf, const struct language_range *caller,
		      uint64_t least_bytes, struct language_range *ret)
{
	struct search search = {.least = least_bytes, .ret = ret};
	uint64_t *targets;

	search.count = targets_of(elf, caller, loop_code_calls, &targets);
	search.targets = targets;
	search_functions(elf, &search, compare_sizes);
	free(targets);
	return search.found;
}

size_t loop_code_find(struct elf_file *elf, const char *name,
		      struct language_range ret[LOOP_RANGES])
{
	struct elf_function found[LOOP_RANGES];
	const char *names[LOOP_RANGES];
	char texts[LOOP_RANGES][NAME_MAX_BYTES];
	size_t count = 0;

	for (size_t i = 0; i < LOOP_RANGES; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "%s%s", name, endings[i]);
		names[i] = texts[i];
	}
	elf_functions_find(elf, names, LOOP_RANGES, found);
	if (!found[0].found || found[0].size == 0)
		return 0;
	for (size_t i = 0; i < LOOP_RANGES; i++)
		if (found[i].found && found[i].size > 0)
			ret[count++] = (struct language_range){
				.start = found[i].vaddr, .end = found[i].vaddr + found[i].size};
	if (count == 1 && follow_jumps(elf, &ret[0], &ret[1]))
		count = 2;
	return count;
}
