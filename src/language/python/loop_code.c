/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/loop_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cfi/eh_frame.h"
#include "cfi/frames.h"
#include "elf/elf.h"
#include "elf/elf_function.h"

#define LOOP "_PyEval_EvalFrameDefault"
#define LOOP_BYTES_MAX (4u << 20)
#define JUMPS_MAX 65536u
/* A moved part has many entries; a function that the loop ends in, one. */
#define LEAST_ENTRIES 4u

static const char *const names[LOOP_RANGES] = {LOOP, LOOP ".cold", LOOP ".part.0",
					       LOOP ".part.0.cold"};

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

size_t loop_code_jumps(unsigned int machine, const uint8_t *code, size_t size, uint64_t vaddr,
		       uint64_t *ret, size_t most)
{
	/* On x86-64 every byte may begin an instruction: wrong ones lead to places at random. */
	size_t step = machine == EM_AARCH64 ? 4 : 1;
	size_t room = machine == EM_AARCH64 ? 4 : 6;
	size_t count = 0;

	for (size_t i = 0; i + room <= size && count < most; i += step) {
		int64_t distance = machine == EM_AARCH64 ? jump_a64(code + i) : jump_x64(code + i);
		uint64_t target = vaddr + i + (uint64_t)distance;

		if (distance != 0 && (target < vaddr || target >= vaddr + size))
			ret[count++] = target;
	}
	return count;
}

/* The function in which most of the jumps end, if they are not all to its start. */
static bool find_moved(struct frame_reader *reader, const uint64_t *targets, size_t count,
		       struct language_range *ret)
{
	size_t most = LEAST_ENTRIES - 1;
	struct frame_fde fde;
	bool found = false;

	while (frame_reader_next(reader, &fde) > 0) {
		size_t entries = 0;

		for (size_t i = 0; i < count; i++)
			entries += targets[i] - fde.start - 1 < fde.size - 1; /* not its start */
		if (entries <= most)
			continue;
		most = entries;
		*ret = (struct language_range){fde.start, fde.start + fde.size};
		found = true;
	}
	return found;
}

static bool search_functions(struct elf_file *elf, const uint64_t *targets, size_t count,
			     struct language_range *ret)
{
	struct frame_section section = {.is_eh = true};
	struct frame_reader *reader = NULL;
	struct elf_section eh_frame;
	void *data = NULL;
	bool found = false;

	if (count < LEAST_ENTRIES || !cfi_find_eh_frame(elf, &eh_frame) ||
	    elf_section_read(elf, &eh_frame, &data, &section.size, NULL) < 0)
		return false;
	section.data = data;
	section.vaddr = eh_frame.addr;
	reader = frame_reader_new(&section);
	if (reader)
		found = find_moved(reader, targets, count, ret);
	frame_reader_free(reader);
	free(data);
	return found;
}

/* The part of a function that was moved away. */
static bool follow_jumps(struct elf_file *elf, const struct language_range *loop,
			 struct language_range *ret)
{
	size_t size = (size_t)(loop->end - loop->start);
	uint8_t *code = size <= LOOP_BYTES_MAX ? malloc(size) : NULL;
	uint64_t *targets = malloc(JUMPS_MAX * sizeof(*targets));
	uint64_t offset;
	bool found = false;

	if (code && targets && elf_vaddr_to_offset(elf, loop->start, &offset) == 0 &&
	    elf_read_at(elf, offset, code, size) == 0) {
		size_t count = loop_code_jumps(elf_machine(elf), code, size, loop->start, targets,
					       JUMPS_MAX);

		found = search_functions(elf, targets, count, ret);
	}
	free(targets);
	free(code);
	return found;
}

size_t loop_code_find(struct elf_file *elf, struct language_range ret[LOOP_RANGES])
{
	struct elf_function found[LOOP_RANGES];
	size_t count = 0;

	elf_functions_find(elf, names, LOOP_RANGES, found);
	if (!found[0].found || found[0].size == 0)
		return 0;
	for (size_t i = 0; i < LOOP_RANGES; i++)
		if (found[i].found && found[i].size > 0)
			ret[count++] = (struct language_range){found[i].vaddr,
							       found[i].vaddr + found[i].size};
	if (count == 1 && follow_jumps(elf, &ret[0], &ret[1]))
		count = 2;
	return count;
}
