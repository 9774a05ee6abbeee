/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_ARCH_JUMP_H
#define WICK_PYTHON_ARCH_JUMP_H

/*
 * jump: encodes jumps that redirect a function to another one: a near jump at its start to a place
 * nearby, and a far jump there to any address. Also decodes the target of a call.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define JUMP_FAR_BYTES 16

#if defined(__aarch64__)

#define JUMP_NEAR_BYTES 4
#define JUMP_REACH (120ll << 20)

/* b target */
static inline bool jump_near(uint64_t from, uint64_t to, uint8_t *code)
{
	int64_t distance = (int64_t)(to - from);
	uint32_t instruction = 0x14000000u | ((uint32_t)(distance >> 2) & 0x03ffffffu);

	memcpy(code, &instruction, sizeof(instruction));
	return distance < JUMP_REACH && distance > -JUMP_REACH;
}

/* ldr x16, #8; br x16; the address */
static inline void jump_far(uint64_t to, uint8_t *code)
{
	const uint32_t instructions[2] = {0x58000050u, 0xd61f0200u};

	memcpy(code, instructions, sizeof(instructions));
	memcpy(code + sizeof(instructions), &to, sizeof(to));
}

#define CALL_STEP 4

/* Returns the target of a bl, or 0 for any other instruction. */
static inline uint64_t call_target(uint64_t at)
{
	uint32_t instruction;
	int64_t distance;

	memcpy(&instruction, (const void *)(uintptr_t)at, sizeof(instruction));
	distance = (int64_t)((uint64_t)instruction << 38) >> 36;
	return (instruction & 0xfc000000u) == 0x94000000u ? at + (uint64_t)distance : 0;
}

#elif defined(__x86_64__)

#define JUMP_NEAR_BYTES 5
#define JUMP_REACH (2000ll << 20)

/* jmp target */
static inline bool jump_near(uint64_t from, uint64_t to, uint8_t *code)
{
	int64_t distance = (int64_t)(to - (from + JUMP_NEAR_BYTES));
	int32_t relative = (int32_t)distance;

	code[0] = 0xe9;
	memcpy(code + 1, &relative, sizeof(relative));
	return distance < JUMP_REACH && distance > -JUMP_REACH;
}

/* jmp *0(%rip); the address */
static inline void jump_far(uint64_t to, uint8_t *code)
{
	const uint8_t instruction[6] = {0xff, 0x25, 0, 0, 0, 0};

	memcpy(code, instruction, sizeof(instruction));
	memcpy(code + sizeof(instruction), &to, sizeof(to));
}

#define CALL_STEP 1

/* Returns the target of a near call, or 0 for any other bytes. */
static inline uint64_t call_target(uint64_t at)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)at;
	int32_t distance;

	memcpy(&distance, code + 1, sizeof(distance));
	return code[0] == 0xe8 ? at + JUMP_NEAR_BYTES + (uint64_t)(int64_t)distance : 0;
}

#else
#error "wick runs on x86-64 and aarch64 only"
#endif

#endif
