/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/call_frames.h"

#include "language/language.h"
#include "model/profile.h"
#include "model/sink.h"

bool call_frames_are_known(const struct interpreter *interpreter, const uint64_t *words,
			   uint32_t count)
{
	struct language_place call;

	for (uint32_t i = 0; i < count; i++)
		if (interpreter_name(interpreter, words[i], &call) < 0)
			return false;
	return true;
}

bool call_frame(const struct sink *sink, const struct interpreter *interpreter, uint64_t word,
		struct frame *ret)
{
	struct language_place call;
	struct place place = {
		.module = MODULE_NONE, .origin = ORIGIN_INTERPRETED, .outer = PLACE_NONE};

	*ret = (struct frame){.kind = FRAME_CUSTOM, .a = PLACE_NONE};
	if (interpreter_name(interpreter, word, &call) <= 0)
		return false;
	place.name = call.function;
	place.file = call.file;
	place.line = call.line;
	return sink_place(sink, &place, &ret->a) == 0;
}
