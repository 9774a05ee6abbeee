/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/frame_origin.h"

#include "base/vec.h"
#include "model/dictionary.h"

/* Whether a module is the program of some process; else it is a library. */
static bool is_program(const struct dictionary *dictionary, const char *path)
{
	size_t i;

	for (i = 0; i < dictionary->processes.count; i++)
		if (dictionary->processes.items[i].executable == path)
			return true; /* both are interned in the same table */
	return false;
}

const struct module *frame_module(const struct dictionary *dictionary, const struct frame *frame)
{
	if (frame->kind != FRAME_NATIVE && frame->kind != FRAME_KERNEL)
		return NULL; /* a is not a module id */
	return frame->a < dictionary->modules.count ? &dictionary->modules.items[frame->a] : NULL;
}

enum function_origin frame_origin(const struct dictionary *dictionary, const struct frame *frame,
				  enum symbol_quality quality)
{
	const struct module *module = frame_module(dictionary, frame);

	if (frame->kind == FRAME_TRUNCATED)
		return ORIGIN_TRUNCATED;
	if (frame->kind == FRAME_KERNEL)
		return ORIGIN_KERNEL;
	if (frame->kind == FRAME_JIT)
		return ORIGIN_JIT;
	if (quality >= SYMBOL_NONE || !module)
		return ORIGIN_UNKNOWN;
	if (module->kind == MODULE_ANONYMOUS)
		return ORIGIN_JIT;
	return is_program(dictionary, module->path) ? ORIGIN_PROGRAM : ORIGIN_LIBRARY;
}

bool frame_is_kernel(const struct dictionary *dictionary, const struct frame *frame)
{
	if (frame->kind == FRAME_CUSTOM && frame->a < dictionary->places.count)
		return dictionary->places.items[frame->a].origin == ORIGIN_KERNEL;
	return frame->kind == FRAME_KERNEL;
}

bool frames_are_places(const struct dictionary *dictionary)
{
	size_t i;

	for (i = 0; i < dictionary->frames.count; i++)
		if (dictionary->frames.items[i].kind != FRAME_CUSTOM ||
		    dictionary->frames.items[i].a >= dictionary->places.count)
			return false;
	return true;
}

const struct symbol_frame *frame_placeholder(uint32_t kind)
{
	static const struct symbol_frame known[] = {
		[FRAME_PYTHON] = {.function = "[python]"},
		[FRAME_JIT] = {.function = "[jit]"},
		[FRAME_CUSTOM] = {.function = "[custom]"},
		[FRAME_TRUNCATED] = {.function = "[truncated]"},
	};
	static const struct symbol_frame unknown = {.function = "[unknown kind]"};

	return kind < ARRAY_SIZE(known) && known[kind].function ? &known[kind] : &unknown;
}
