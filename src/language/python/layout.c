/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/layout.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "language/language.h"
#include "unwind/python_walk.h"

#define DEBUG_COOKIE "xdebugpy"
#define DEBUG_BYTES 704u

/* Versions whose structures are known in advance. */
static const struct python_structs tables[] = {
	{
		.frames = {.version = 0x0309,
			   .gil = 352,
			   .interpreters = 32,
			   .interpreter_next = 0,
			   .threads = 8,
			   .thread_next = 8,
			   .thread_id = 176,
			   .frame = 24,
			   .c_frame = PYTHON_NO_OFFSET,
			   .frame_bytes = 112,
			   .previous = 24,
			   .code = 32,
			   .instruction = 104,
			   .first_instruction = PYTHON_NO_OFFSET,
			   .instruction_shift = 1,
			   .entry = PYTHON_ENTRY_EACH},
		.code = {.name = 112,
			 .file = 104,
			 .first_line = 40,
			 .lines = 120,
			 .ascii_bytes = 48,
			 .unicode_bytes = 72,
			 .line_format = PYTHON_LINES_3_9},
		.objects = {.modules = 856, .attributes = PYTHON_ATTRIBUTES_DICT},
	},
	{
		.frames = {.version = 0x030a,
			   .gil = 352,
			   .interpreters = 32,
			   .interpreter_next = 0,
			   .threads = 8,
			   .thread_next = 8,
			   .thread_id = 176,
			   .frame = 24,
			   .c_frame = PYTHON_NO_OFFSET,
			   .frame_bytes = 104,
			   .previous = 24,
			   .code = 32,
			   .instruction = 96,
			   .first_instruction = PYTHON_NO_OFFSET,
			   .entry = PYTHON_ENTRY_EACH},
		.code = {.name = 112,
			 .file = 104,
			 .first_line = 40,
			 .lines = 120,
			 .ascii_bytes = 48,
			 .unicode_bytes = 72,
			 .line_format = PYTHON_LINES_3_10},
		.objects = {.modules = 856, .attributes = PYTHON_ATTRIBUTES_DICT},
	},
	{
		.frames = {.version = 0x030b,
			   .gil = 360,
			   .interpreters = 40,
			   .interpreter_next = 0,
			   .threads = 16,
			   .thread_next = 8,
			   .thread_id = 152,
			   .frame = 56,
			   .c_frame = 8,
			   .frame_bytes = 72,
			   .previous = 48,
			   .code = 32,
			   .instruction = 56,
			   .boundary = 68,
			   .first_instruction = 184,
			   .entry = PYTHON_ENTRY_FLAG},
		.code = {.name = 128,
			 .file = 112,
			 .first_line = 72,
			 .lines = 136,
			 .ascii_bytes = 48,
			 .unicode_bytes = 72,
			 .line_format = PYTHON_LINES_3_11},
		.objects = {.modules = 888,
			    .class_keys = 872,
			    .attributes = PYTHON_ATTRIBUTES_BEFORE,
			    .small_keys = true},
	},
	{
		.frames = {.version = 0x030c,
			   .gil = 384,
			   .interpreters = 40,
			   .interpreter_next = 0,
			   .threads = 72,
			   .thread_next = 8,
			   .thread_id = 136,
			   .frame = 56,
			   .c_frame = 0,
			   .frame_bytes = 72,
			   .previous = 8,
			   .code = 0,
			   .instruction = 56,
			   .boundary = 70,
			   .first_instruction = 192,
			   .shim = 3,
			   .entry = PYTHON_ENTRY_SHIM},
		.code = {.name = 128,
			 .file = 112,
			 .first_line = 68,
			 .lines = 136,
			 .ascii_bytes = 40,
			 .unicode_bytes = 56,
			 .line_format = PYTHON_LINES_3_11},
		.objects = {.modules = 944,
			    .class_keys = 880,
			    .attributes = PYTHON_ATTRIBUTES_TAGGED,
			    .small_keys = true,
			    .digit_shift = 3},
	},
};

/* Where the description of itself has each number. */
struct debug_places {
	uint16_t version;
	uint16_t interpreters;
	uint16_t interpreter_next;
	uint16_t threads;
	uint16_t thread_next;
	uint16_t frame;
	uint16_t thread_id;
	uint16_t previous;
	uint16_t executable;
	uint16_t instruction;
	uint16_t owner;
	uint16_t file;
	uint16_t name;
	uint16_t lines;
	uint16_t first_line;
	uint16_t first_instruction;
	uint16_t ascii_bytes;
	uint16_t gil;
	uint16_t modules;
};

#define DEBUG_VERSION 8u
#define DEBUG_FREE_THREADED 16u

static const struct debug_places debug_places[] = {
	{0x030d, 40, 64, 72, 168, 184, 192, 232, 240, 248, 264, 280, 296, 304, 312, 344, 560, 112,
	 88},
	{0x030e, 40, 64, 72, 192, 208, 216, 256, 264, 272, 288, 320, 336, 344, 352, 384, 640, 120,
	 96},
};

static uint64_t number_at(const uint8_t *bytes, uint16_t place)
{
	uint64_t number;

	memcpy(&number, bytes + place, sizeof(number));
	return number;
}

/* An offset that an interpreter states; *good turns false if it cannot be one. */
static uint16_t offset_at(const uint8_t *bytes, uint16_t place, uint16_t limit, bool *good)
{
	uint64_t number = number_at(bytes, place);

	*good = *good && number < limit;
	return (uint16_t)number;
}

#define FRAME_LIMIT (PYTHON_FRAME_WORDS * 8u - 8u)

static bool fill(const struct debug_places *places, const uint8_t *bytes,
		 struct python_structs *ret)
{
	struct python_layout *frames = &ret->frames;
	struct python_code_layout *code = &ret->code;
	bool good = true;

	frames->version = places->version;
	frames->interpreters = offset_at(bytes, places->interpreters, 0x8000, &good);
	frames->interpreter_next = offset_at(bytes, places->interpreter_next, 0x8000, &good);
	frames->threads = offset_at(bytes, places->threads, 0x8000, &good);
	frames->gil = offset_at(bytes, places->gil, 0x8000, &good);
	frames->thread_next = offset_at(bytes, places->thread_next, 0x800, &good);
	frames->frame = offset_at(bytes, places->frame, 0x800, &good);
	frames->thread_id = offset_at(bytes, places->thread_id, 0x800, &good);
	frames->c_frame = PYTHON_NO_OFFSET;
	frames->previous = offset_at(bytes, places->previous, FRAME_LIMIT, &good);
	frames->code = offset_at(bytes, places->executable, FRAME_LIMIT, &good);
	frames->instruction = offset_at(bytes, places->instruction, FRAME_LIMIT, &good);
	frames->boundary = offset_at(bytes, places->owner, FRAME_LIMIT, &good);
	frames->first_instruction = offset_at(bytes, places->first_instruction, 0x800, &good);
	frames->frame_bytes = (uint16_t)((frames->boundary & ~7u) + 8);
	frames->entry = PYTHON_ENTRY_SHIM;
	frames->shim = 3;
	code->file = offset_at(bytes, places->file, PYTHON_CODE_HEAD - 8, &good);
	code->name = offset_at(bytes, places->name, PYTHON_CODE_HEAD - 8, &good);
	code->lines = offset_at(bytes, places->lines, PYTHON_CODE_HEAD - 8, &good);
	code->first_line = offset_at(bytes, places->first_line, PYTHON_CODE_HEAD - 8, &good);
	code->ascii_bytes = offset_at(bytes, places->ascii_bytes, 0x100, &good);
	code->unicode_bytes = (uint16_t)(code->ascii_bytes + 16);
	code->line_format = PYTHON_LINES_3_11;
	ret->objects = (struct python_object_layout){
		.modules = offset_at(bytes, places->modules, 0x8000, &good),
		.class_keys = 880,
		.values = 8,
		.attributes = PYTHON_ATTRIBUTES_INSIDE,
		.small_keys = true,
		.digit_shift = 3,
	};
	/* All is read with the byte that comes last in every version so far. */
	return good && frames->boundary > frames->instruction &&
	       frames->boundary > frames->previous && frames->boundary > frames->code;
}

/* Why it cannot be used; NULL if it can. */
static const char *read_description(const struct debug_places *places, uint64_t runtime,
				    const struct python_reader *reader, struct python_structs *ret)
{
	uint8_t bytes[DEBUG_BYTES];

	if (!reader->read(reader->context, runtime, bytes, sizeof(bytes)) ||
	    memcmp(bytes, DEBUG_COOKIE, strlen(DEBUG_COOKIE)) != 0 ||
	    number_at(bytes, DEBUG_VERSION) >> 16 != places->version)
		return "it does not describe itself";
	if (number_at(bytes, DEBUG_FREE_THREADED) != 0)
		return "it has no global lock";
	return fill(places, bytes, ret) ? NULL : "its description of itself is invalid";
}

int python_structs_find(uint32_t version, uint64_t runtime, const struct python_reader *reader,
			struct python_structs *ret, const char **ret_why)
{
	struct python_structs found = {0};
	const char *why = "this version is unknown";

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (tables[i].frames.version == version >> 16) {
			found = tables[i];
			why = NULL;
		}
	for (size_t i = 0; i < ARRAY_SIZE(debug_places); i++)
		if (debug_places[i].version == version >> 16)
			why = read_description(&debug_places[i], runtime, reader, &found);
	*ret_why = why;
	if (why)
		return -ENOTSUP;
	found.frames.runtime = runtime;
	found.frames.thread_slack = LANGUAGE_THREAD_SLACK;
	found.frames.code_file = found.code.file;
	found.frames.code_name = found.code.name;
	found.frames.code_lines = found.code.lines;
	found.frames.ascii_bytes = found.code.ascii_bytes;
	found.frames.unicode_bytes = found.code.unicode_bytes;
	*ret = found;
	return 0;
}
