/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_PYTHON_CODE_H
#define WICK_BPF_PYTHON_CODE_H

/*
 * python_code: copies of the code objects that are new to the reader: they may be gone by the time
 * it could look.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/python.h"
#include "bpf/python_maps.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/stack_copy.h"
#include "wire/bpf_walk.h"

/* How many bytes a string has. */
static __always_inline uint64_t string_bytes(struct python_calls *calls, uint64_t address)
{
	uint32_t state;

	/* Length at 16, state at 32: the same in all versions. */
	if (bpf_probe_read_user(calls->block, 40, (void *)address) != 0)
		return 0;
	state = (uint32_t)calls->block[4];
	return (state >> 6 & 1 ? calls->layout.ascii_bytes : calls->layout.unicode_bytes) +
	       calls->block[2] * (state >> 2 & 7);
}

/* Copies a part of what a code object refers to. */
#define COPY_PART(code, part, from, wanted)                                                        \
	do {                                                                                       \
		uint64_t bytes_ = (wanted);                                                        \
		if (bytes_ > sizeof((code)->part))                                                 \
			bytes_ = sizeof((code)->part);                                             \
		(code)->part##_address = (from);                                                   \
		(code)->part##_bytes = 0;                                                          \
		if (bpf_probe_read_user((code)->part, (uint32_t)bytes_, (void *)(from)) == 0)      \
			(code)->part##_bytes = (uint32_t)bytes_;                                   \
	} while (0)

/* Fills in the copy of a code object. */
GLOBAL int copy_code(struct scratch *scratch, uint64_t address)
{
	struct bpf_walk_code *code;
	struct python_calls *calls;
	uint64_t size = 0;

	if (!scratch)
		return 0;
	code = &scratch->code;
	calls = &scratch->python;
	code->head = scratch->record.stack.head;
	code->head.kind = BPF_WALK_CODE;
	COPY_PART(code, object, address, calls->layout.code_lines + 8ull);
	calls->refers[0] = calls->refers[1] = calls->refers[2] = 0;
	read_word(address + calls->layout.code_name, &calls->refers[0]);
	read_word(address + calls->layout.code_file, &calls->refers[1]);
	read_word(address + calls->layout.code_lines, &calls->refers[2]);
	COPY_PART(code, name, calls->refers[0], string_bytes(calls, calls->refers[0]));
	COPY_PART(code, file, calls->refers[1], string_bytes(calls, calls->refers[1]));
	read_word(calls->refers[2] + 16, &size);
	COPY_PART(code, lines, calls->refers[2],
		  size > BPF_WALK_LINE_BYTES ? BPF_WALK_LINE_BYTES : size + 32);
	return (int)code->lines_bytes;
}

/* Of one copy, about: exactly, the verifier would lose track of its size. */
#define CODE_BYTES 2048u

struct code_sender {
	void *ctx;
	struct scratch *scratch;
};

static long send_code(uint32_t index, void *context)
{
	const struct code_sender *sender = context;
	struct scratch *scratch = sender->scratch;
	struct python_calls *calls = &scratch->python;
	uint32_t i = index & (BPF_WALK_NEW_CODES - 1);
	struct python_code_key key = {scratch->record.stack.head.key, calls->new_codes[i]};
	uint64_t size;

	/* Stacks matter more than names. */
	if (!has_room(scratch, 2))
		return 1;
	size = (uint32_t)copy_code(scratch, key.address);
	size += offsetof(struct bpf_walk_code, lines);
	if (size <= sizeof(scratch->code) &&
	    bpf_perf_event_output(sender->ctx, &output, BPF_F_CURRENT_CPU, &scratch->code, size) ==
		    0)
		bpf_map_update_elem(&python_codes, &key, &calls->new_mixes[i], BPF_ANY);
	scratch->sent_bytes += CODE_BYTES;
	return 0;
}

/* Sends the code objects that the reader does not know, before the stack that refers to them. */
static __always_inline void send_codes(void *ctx, struct scratch *scratch)
{
	struct code_sender sender = {ctx, scratch};

	if (with_python && scratch->python.new_count > 0)
		bpf_loop(scratch->python.new_count, send_code, &sender, 0);
}

#endif
