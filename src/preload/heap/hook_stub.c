/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/hook_stub.h"

#include <stddef.h>

struct writer {
	uint8_t *to;
	size_t at;
};

static void put(struct writer *writer, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		writer->to[writer->at++] = (uint8_t)(value >> 8 * i);
}

static void put_moved(struct writer *writer, const struct session_hook *hook)
{
	for (uint32_t i = 0; i < hook->moved; i++)
		put(writer, hook->code[hook->offset + i], 1);
}

/* jmp */
static void put_jump_x64(struct writer *writer, uint64_t from, uint64_t to)
{
	put(writer, 0xe9, 1);
	put(writer, to - (from + 5), 4);
}

/* push rbp; mov rbp, rsp; push index; jmp *gate: changes no other registers. */
static void make_x64(const struct session_hook *hook, const struct hook_place *place,
		     struct hook_stub *ret)
{
	struct writer stub = {ret->code, 0};
	struct writer patch = {ret->patch, 0};

	put(&stub, 0xe5894855, 4);
	put(&stub, 0x6a | place->index << 8, 2);
	put(&stub, 0x25ff, 6); /* the address follows */
	put(&stub, place->gate, 8);
	stub.at = HOOK_STUB_ORIGINAL;
	put_moved(&stub, hook);
	put_jump_x64(&stub, place->stub + stub.at, place->function + hook->offset + hook->moved);
	put_jump_x64(&patch, place->function + hook->offset, place->stub);
	ret->patch_bytes = (uint32_t)patch.at;
}

/* b */
static void put_jump_a64(struct writer *writer, uint64_t from, uint64_t to)
{
	put(writer, 0x14000000u | ((to - from) >> 2 & 0x3ffffffu), 4);
}

#define A64_BTI_C 0xd503245fu
#define A64_NOP 0xd503201fu

/* mov x16, index; ldr x17, gate; br x17: both are scratch registers between functions. */
static void make_a64(const struct session_hook *hook, const struct hook_place *place,
		     struct hook_stub *ret)
{
	struct writer stub = {ret->code, 0};
	struct writer patch = {ret->patch, 0};

	put(&stub, 0xd2800010u | place->index << 5, 4);
	put(&stub, 0x58000071u, 4);
	put(&stub, 0xd61f0220u, 4);
	put(&stub, A64_NOP, 4);
	put(&stub, place->gate, 8);
	stub.at = HOOK_STUB_ORIGINAL;
	put_moved(&stub, hook);
	put_jump_a64(&stub, place->stub + stub.at, place->function + hook->offset + hook->moved);
	if (hook->marked)
		put(&patch, A64_BTI_C, 4);
	put_jump_a64(&patch, place->function + hook->offset + patch.at, place->stub);
	ret->patch_bytes = (uint32_t)patch.at;
}

void hook_stub_make(enum hook_cpu cpu, const struct session_hook *hook,
		    const struct hook_place *place, struct hook_stub *ret)
{
	for (uint32_t i = 0; i < HOOK_STUB_BYTES; i++)
		ret->code[i] = 0;
	if (cpu == HOOK_X64)
		make_x64(hook, place, ret);
	else
		make_a64(hook, place, ret);
}
