/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/x64_code.h"

#include <string.h>

#include "base/vec.h"

#define REGISTER_SP 4
#define REGISTER_FP 5
#define MAX_INSTRUCTION 15

/* What follows an opcode of one byte, and what it writes. */
enum {
	MODRM = 1,
	BYTE = 2, /* an immediate */
	WORD = 4, /* of four bytes */
	WRITES_RM = 8,
	WRITES_REG = 16,
};

struct form {
	uint8_t first;
	uint8_t last;
	uint8_t parts;
};

/* Arithmetic, moves and tests, as stubs have them. */
static const struct form forms[] = {
	{0x01, 0x01, MODRM | WRITES_RM},        /* add r, rm */
	{0x29, 0x29, MODRM | WRITES_RM},        /* sub r, rm */
	{0x31, 0x31, MODRM | WRITES_RM},        /* xor r, rm */
	{0x39, 0x39, MODRM},                    /* cmp */
	{0x3b, 0x3b, MODRM},                    /* cmp */
	{0x3d, 0x3d, WORD},                     /* cmp imm, rax */
	{0x80, 0x80, MODRM | BYTE | WRITES_RM}, /* add … cmp imm, byte */
	{0x85, 0x85, MODRM},                    /* test */
	{0x89, 0x89, MODRM | WRITES_RM},        /* mov r, rm */
	{0x8b, 0x8b, MODRM | WRITES_REG},       /* mov rm, r */
	{0x8d, 0x8d, MODRM | WRITES_REG},       /* lea */
	{0x90, 0x90, 0},                        /* nop */
	{0xb8, 0xbb, WORD},                     /* mov imm, eax … ebx */
	{0xbd, 0xbf, WORD},                     /* mov imm, ebp … edi */
	{0xc1, 0xc1, MODRM | BYTE | WRITES_RM}, /* shifts */
	{0xc6, 0xc6, MODRM | BYTE},             /* mov imm, byte */
	{0xc7, 0xc7, MODRM | WORD | WRITES_RM}, /* mov imm, rm */
	{0xcc, 0xcc, 0},                        /* int3: padding */
	{0xd1, 0xd1, MODRM | WRITES_RM},        /* shifts by one */
};

struct decoder {
	const uint8_t *bytes;
	size_t size;
	size_t at;
	uint8_t rex;
	bool failed;
};

static uint8_t next_byte(struct decoder *decoder)
{
	if (decoder->at >= decoder->size) {
		decoder->failed = true;
		return 0;
	}
	return decoder->bytes[decoder->at++];
}

/* A displacement of one byte; its sign is bit 7. */
static int32_t next_short(struct decoder *decoder)
{
	return (next_byte(decoder) ^ 0x80) - 0x80;
}

static int32_t next_word(struct decoder *decoder)
{
	int32_t word = 0;

	if (decoder->size - decoder->at < sizeof(word)) {
		decoder->failed = true;
		return 0;
	}
	memcpy(&word, decoder->bytes + decoder->at, sizeof(word));
	decoder->at += sizeof(word);
	return word;
}

struct operands {
	uint8_t group;  /* the middle field unchanged: which instruction of a group */
	uint8_t reg;    /* the register it names */
	uint8_t rm;     /* the other one; meaningful when is_direct */
	bool is_direct; /* rm is a register, not memory */
};

/* ModRM, SIB and displacement. */
static struct operands next_operands(struct decoder *decoder)
{
	uint8_t modrm = next_byte(decoder);
	uint8_t mode = modrm >> 6;
	uint8_t base = modrm & 7;
	struct operands operands = {
		.group = modrm >> 3 & 7,
		.reg = (uint8_t)((modrm >> 3 & 7) | (decoder->rex & 4) << 1),
		.rm = (uint8_t)(base | (decoder->rex & 1) << 3),
		.is_direct = mode == 3,
	};

	if (mode == 3)
		return operands;
	if (base == 4)
		base = next_byte(decoder) & 7;
	else if (mode == 0 && base == 5)
		mode = 2; /* pc plus a displacement */
	if (mode == 1)
		(void)next_byte(decoder);
	else if (mode == 2 || base == 5)
		(void)next_word(decoder);
	return operands;
}

static bool decode_form(struct decoder *decoder, uint8_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *form = &forms[i];
		struct operands operands = {0};

		if (opcode < form->first || opcode > form->last)
			continue;
		if (opcode >= 0xb8 && opcode <= 0xbf && decoder->rex & 8)
			return false; /* its immediate has eight bytes */
		if (form->parts & MODRM)
			operands = next_operands(decoder);
		if (form->parts & BYTE)
			(void)next_byte(decoder);
		if (form->parts & WORD)
			(void)next_word(decoder);
		if (form->parts & WRITES_REG && operands.reg == REGISTER_SP)
			return false;
		return !(form->parts & WRITES_RM && operands.is_direct &&
			 operands.rm == REGISTER_SP);
	}
	return false;
}

static bool decode_two_bytes(struct decoder *decoder, struct x64_instruction *ret)
{
	uint8_t opcode = next_byte(decoder);

	if (opcode >= 0x80 && opcode <= 0x8f) { /* jcc */
		ret->flow = X64_BRANCH;
		ret->target = next_word(decoder);
		return true;
	}
	if (opcode != 0x1e && opcode != 0x1f) /* endbr64, nop */
		return false;
	(void)next_operands(decoder);
	return true;
}

/* add and sub of a constant; only these may change sp. */
static bool decode_constant(struct decoder *decoder, uint8_t opcode, struct x64_instruction *ret)
{
	struct operands operands = next_operands(decoder);
	int32_t value = opcode == 0x81 ? next_word(decoder) : next_short(decoder);

	if (!operands.is_direct || operands.rm != REGISTER_SP || operands.group == 7)
		return true; /* another register, or a comparison */
	if (value < 0 || value > 1 << 20 || (operands.group != 0 && operands.group != 5))
		return false;
	ret->pushed = operands.group == 5 ? value : -value;
	return true;
}

static bool decode_group_ff(struct decoder *decoder, struct x64_instruction *ret)
{
	switch (next_operands(decoder).group) {
	case 2: /* call */
		return true;
	case 4: /* jmp */
		ret->flow = X64_END;
		return true;
	case 6: /* push */
		ret->pushed = 8;
		return true;
	default:
		return false;
	}
}

static void decode_push(struct decoder *decoder, uint8_t opcode, struct x64_instruction *ret)
{
	bool is_pop = opcode >= 0x58;

	ret->pushed = is_pop ? -8 : 8;
	if ((opcode & 7) == REGISTER_FP && !(decoder->rex & 1))
		ret->fp = is_pop ? X64_FP_POPPED : X64_FP_PUSHED;
}

static bool decode_opcode(struct decoder *decoder, uint8_t opcode, struct x64_instruction *ret)
{
	if (opcode >= 0x50 && opcode <= 0x5f) {
		decode_push(decoder, opcode, ret);
		return opcode != 0x5c; /* pop %rsp */
	}
	if (opcode >= 0x70 && opcode <= 0x7f) { /* jcc */
		ret->flow = X64_BRANCH;
		ret->target = next_short(decoder);
		return true;
	}
	switch (opcode) {
	case 0x0f:
		return decode_two_bytes(decoder, ret);
	case 0x68: /* push of a constant */
		ret->pushed = 8;
		(void)next_word(decoder);
		return true;
	case 0x81:
	case 0x83:
		return decode_constant(decoder, opcode, ret);
	case 0xc3:
	case 0xf4: /* ret, hlt */
		ret->flow = X64_END;
		return true;
	case 0xe8: /* call */
		(void)next_word(decoder);
		return true;
	case 0xe9:
	case 0xeb: /* jmp */
		ret->flow = X64_JUMP;
		ret->target = opcode == 0xe9 ? next_word(decoder) : next_short(decoder);
		return true;
	case 0xff:
		return decode_group_ff(decoder, ret);
	default:
		return decode_form(decoder, opcode);
	}
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
	       byte == 0x3e;
}

bool x64_decode(const uint8_t *bytes, size_t size, struct x64_instruction *ret)
{
	struct decoder decoder = {.bytes = bytes,
				  .size = size < MAX_INSTRUCTION ? size : MAX_INSTRUCTION};
	uint8_t opcode = next_byte(&decoder);

	*ret = (struct x64_instruction){.flow = X64_NEXT};
	while (is_prefix(opcode) && !decoder.failed)
		opcode = next_byte(&decoder);
	if ((opcode & 0xf0) == 0x40) {
		decoder.rex = opcode;
		opcode = next_byte(&decoder);
	}
	if (!decode_opcode(&decoder, opcode, ret) || decoder.failed)
		return false;
	ret->size = decoder.at;
	return true;
}
