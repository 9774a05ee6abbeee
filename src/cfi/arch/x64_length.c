/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/x64_length.h"

#include <string.h>

#define MAX_INSTRUCTION 15

/*
 * What follows an opcode: '.' nothing, 'm' ModRM, 'b' a byte, 'w' two, 'z' four (two with the
 * prefix 66), 'M' and 'Z' ModRM and such a number, 'i' four or eight, 'o' an address, 'e' three
 * bytes, 'j' and 'J' a target in one or four bytes, 'g' ModRM and sometimes a number; 'P' a prefix,
 * 'R' one that comes last, 'V' those of AVX; '-' unknown.
 */
static const char one_byte[256 + 1] = "mmmmbz--mmmmbz--"
				      "mmmmbz--mmmmbz--"
				      "mmmmbzP-mmmmbzP-"
				      "mmmmbzP-mmmmbzP-"
				      "RRRRRRRRRRRRRRRR"
				      "................"
				      "--VmPPPPzZbM...."
				      "jjjjjjjjjjjjjjjj"
				      "MZ-Mmmmmmmmmmmmm"
				      "..........-....."
				      "oooo....bz......"
				      "bbbbbbbbiiiiiiii"
				      "MMw.VVMZe.w..b-."
				      "mmmm---.mmmmmmmm"
				      "jjjjbbbbJJ-j...."
				      "P.PP..gg......mm";

/* The same for opcodes after 0f; 38 and 3a lead to other maps. */
static const char two_bytes[256 + 1] = "mmmm-.....-.-m.M"
				       "mmmmmmmmmmmmmmmm"
				       "--------mmmmmmmm"
				       "........--------"
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm"
				       "MMMMmmm.----mmmm"
				       "JJJJJJJJJJJJJJJJ"
				       "mmmmmmmmmmmmmmmm"
				       "...mMm--...mMmmm"
				       "mmmmmmmmmmMmmmmm"
				       "mmMmMMMm........"
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm"
				       "mmmmmmmmmmmmmmmm";

struct reader {
	const uint8_t *bytes;
	size_t size;
	size_t at;
	bool narrow; /* 66 */
	bool short_address;
	bool wide; /* REX.W */
	bool failed;
	struct x64_extent extent;
};

static uint8_t next_byte(struct reader *reader)
{
	if (reader->at >= reader->size) {
		reader->failed = true;
		return 0;
	}
	return reader->bytes[reader->at++];
}

static void skip(struct reader *reader, size_t count)
{
	if (count > reader->size - reader->at)
		reader->failed = true;
	else
		reader->at += count;
}

/* ModRM, SIB and displacement. Returns ModRM. */
static uint8_t skip_operands(struct reader *reader)
{
	uint8_t modrm = next_byte(reader);
	uint8_t mode = modrm >> 6;
	uint8_t base = modrm & 7;

	if (mode == 3)
		return modrm;
	if (base == 4)
		base = next_byte(reader) & 7;
	else if (mode == 0 && base == 5)
		reader->extent.by_place = true;
	if (mode == 1)
		skip(reader, 1);
	else if (mode == 2 || (mode == 0 && base == 5))
		skip(reader, 4);
	return modrm;
}

static void read_target(struct reader *reader, size_t bytes)
{
	int32_t distance = 0;

	if (bytes > reader->size - reader->at || (reader->narrow && !reader->wide)) {
		reader->failed = true; /* with the prefix, CPUs behave differently */
		return;
	}
	if (bytes == 1)
		distance = (reader->bytes[reader->at] ^ 0x80) - 0x80; /* its sign is bit 7 */
	else
		memcpy(&distance, reader->bytes + reader->at, sizeof(distance));
	reader->at += bytes;
	reader->extent.branches = true;
	reader->extent.target = (int64_t)reader->at + distance;
}

static size_t number_bytes(const struct reader *reader)
{
	return reader->narrow && !reader->wide ? 2 : 4;
}

/* Opcodes whose ModRM decides whether a number follows, or whether they are known at all. */
static void skip_group(struct reader *reader, uint8_t opcode)
{
	uint8_t modrm = skip_operands(reader);

	if ((modrm >> 3 & 7) <= 1) /* test */
		skip(reader, opcode == 0xf6 ? 1 : number_bytes(reader));
}

static void skip_rest(struct reader *reader, char form, uint8_t opcode)
{
	if (form == 'm' || form == 'M' || form == 'Z')
		(void)skip_operands(reader);
	switch (form) {
	case '.':
	case 'm':
		break;
	case 'M':
	case 'b':
		skip(reader, 1);
		break;
	case 'Z':
	case 'z':
		skip(reader, number_bytes(reader));
		break;
	case 'i':
		skip(reader, reader->wide ? 8 : number_bytes(reader));
		break;
	case 'o':
		skip(reader, reader->short_address ? 4 : 8);
		break;
	case 'w':
		skip(reader, 2);
		break;
	case 'e':
		skip(reader, 3);
		break;
	case 'j':
		read_target(reader, 1);
		break;
	case 'J':
		read_target(reader, 4);
		break;
	case 'g':
		skip_group(reader, opcode);
		break;
	default:
		reader->failed = true;
	}
}

/* An opcode from one of AVX's numbered maps: 1 is 0f, 2 is 0f 38, 3 is 0f 3a. */
static void skip_of_map(struct reader *reader, uint32_t map)
{
	uint8_t opcode = next_byte(reader);
	char form = map == 2 ? 'm' : map == 3 ? 'M' : '-';

	if (map == 1)
		form = two_bytes[opcode];
	if (form == 'J')
		form = '-'; /* AVX has no jumps */
	skip_rest(reader, form, opcode);
}

static void skip_avx(struct reader *reader, uint8_t first)
{
	uint8_t second = next_byte(reader);

	if (first == 0xc5) {
		skip_of_map(reader, 1);
		return;
	}
	skip(reader, first == 0xc4 ? 1 : 2);
	skip_of_map(reader, first == 0xc4 ? second & 0x1f : second & 7);
}

static void skip_two_bytes(struct reader *reader)
{
	uint8_t opcode = next_byte(reader);

	if (opcode == 0x38 || opcode == 0x3a) {
		uint8_t third = next_byte(reader);

		skip_rest(reader, opcode == 0x38 ? 'm' : 'M', third);
		return;
	}
	skip_rest(reader, two_bytes[opcode], opcode);
}

/* Prefixes. Returns the first byte that is not one. */
static uint8_t skip_prefixes(struct reader *reader)
{
	uint8_t byte = next_byte(reader);

	while (one_byte[byte] == 'P' && !reader->failed) {
		reader->narrow |= byte == 0x66;
		reader->short_address |= byte == 0x67;
		byte = next_byte(reader);
	}
	if (one_byte[byte] == 'R') {
		reader->wide = byte & 8;
		byte = next_byte(reader);
	}
	return byte;
}

/* 8f and c7 have forms with ModRM that mean something else entirely. */
static bool is_other(const struct reader *reader, uint8_t opcode)
{
	uint8_t modrm = reader->at < reader->size ? reader->bytes[reader->at] : 0;

	return (opcode == 0x8f && (modrm >> 3 & 7) != 0) || (opcode == 0xc7 && modrm == 0xf8);
}

/* Through a pointer. */
static bool is_call(const struct reader *reader, uint8_t opcode, size_t at)
{
	uint8_t group = at < reader->size ? reader->bytes[at] >> 3 & 7 : 0;

	return opcode == 0xff && (group == 2 || group == 3);
}

/* Jumps, returns and ud2, with the byte after the opcode. */
static bool is_end(const struct reader *reader, uint8_t opcode, size_t at)
{
	uint8_t next = at < reader->size ? reader->bytes[at] : 0;

	switch (opcode) {
	case 0xc2:
	case 0xc3:
	case 0xe9:
	case 0xeb:
	case 0xf4:
		return true;
	case 0x0f:
		return next == 0x0b;
	case 0xff:
		return (next >> 3 & 7) == 4 || (next >> 3 & 7) == 5;
	default:
		return false;
	}
}

bool x64_measure(const uint8_t *bytes, size_t size, struct x64_extent *ret)
{
	struct reader reader = {.bytes = bytes,
				.size = size < MAX_INSTRUCTION ? size : MAX_INSTRUCTION};
	uint8_t opcode = skip_prefixes(&reader);
	size_t rest = reader.at;

	if (reader.failed || is_other(&reader, opcode))
		return false;
	if (opcode == 0x0f)
		skip_two_bytes(&reader);
	else if (one_byte[opcode] == 'V')
		skip_avx(&reader, opcode);
	else
		skip_rest(&reader, one_byte[opcode], opcode);
	if (reader.failed)
		return false;
	reader.extent.size = reader.at;
	reader.extent.calls = opcode == 0xe8 || is_call(&reader, opcode, rest);
	reader.extent.ends = is_end(&reader, opcode, rest);
	*ret = reader.extent;
	return true;
}
