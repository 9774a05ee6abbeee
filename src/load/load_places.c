/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "load/load.h"
#include "load/loader.h"
#include "load/names/frame_origin.h"
#include "load/names/script_folder.h"
#include "load/names/short_name.h"
#include "model/dictionary.h"
#include "model/module_key.h"
#include "symbol/symboliser.h"

#define MAX_LINES 256u /* functions inlined at one address, including the outer one */

static enum symbol_quality resolve(struct loader *loader, const struct frame *frame,
				   uint64_t address, const struct symbol_frame **ret_frames,
				   size_t *ret_count)
{
	const struct module *module = frame_module(loader->dictionary, frame);

	if (frame->kind == FRAME_KERNEL)
		return symboliser_resolve_kernel(loader->symboliser, address, ret_frames,
						 ret_count);
	if (frame->kind == FRAME_NATIVE)
		return symboliser_resolve(loader->symboliser, module,
					  module ? frame->a : MODULE_NONE, address, ret_frames,
					  ret_count);
	*ret_frames = frame_placeholder(frame->kind);
	*ret_count = 1;
	return frame->kind == FRAME_TRUNCATED ? SYMBOL_NAME_ONLY : SYMBOL_NONE;
}

/* Looks up where the function of a frame begins; invalidates frames that were resolved before. */
static uint32_t find_home(struct loader *loader, const struct frame *frame,
			  const struct symbol_frame *own)
{
	struct function_file home = {.module = frame->a, .start = own->start};
	const char *file = own->file;
	const struct symbol_frame *frames;
	size_t count;

	if (resolve(loader, frame, own->start, &frames, &count) == SYMBOL_FULL &&
	    frames[count - 1].start == own->start && frames[count - 1].file)
		file = frames[count - 1].file;
	home.file = strings_add(&loader->profile->strings, file);
	return home.file == ID_NONE || function_files_add(&loader->homes, home) < 0 ? ID_NONE
										    : home.file;
}

/* The function begins in the file of its line. */
#define HOME_IS_FILE (ID_NONE - 1)

/*
 * The file in which the function of a frame begins; it distinguishes functions of the same name. A
 * function that includes parts of itself, or is generated, has lines in several files. ID_NONE if
 * out of memory.
 */
static uint32_t home_of(struct loader *loader, const struct frame *frame,
			const struct symbol_frame *own)
{
	const struct module *module = frame_module(loader->dictionary, frame);
	uint32_t file;

	/* JIT-compiled functions are distinguished by name: runtimes put the file into it. */
	if (module && module->kind == MODULE_ANONYMOUS)
		return strings_add(&loader->profile->strings, "");
	if (own->start == 0 || !own->file || frame->kind != FRAME_NATIVE)
		return HOME_IS_FILE;
	file = function_files_find(&loader->homes, frame->a, own->start);
	return file == ID_NONE ? find_home(loader, frame, own) : file;
}

/* What the functions at an address have in common, and the file of the outermost one. */
struct owner {
	uint32_t module; /* string id */
	enum function_origin origin;
	uint32_t home; /* see home_of() */
	uint32_t module_id;
};

/* The string id of a module in the profile: its path, in most cases. ID_NONE if out of memory. */
static uint32_t module_string(struct loader *loader, const struct module *module)
{
	if (module && loader->options->by_build_id)
		return module_key(loader->profile, module->path, &module->build_id);
	return strings_add(&loader->profile->strings, module ? module->path : "");
}

/* Stores the build id of a module, unless that of its path is known to be the same. 0 or -ENOMEM.
 */
static int note_module(struct loader *loader, uint32_t path, const struct module *module)
{
	const struct profile_module *known = profile_find_module(loader->profile, path);

	if (!module || loader->options->by_build_id ||
	    (known && build_id_equal(&known->build_id, &module->build_id)))
		return 0;
	return profile_module(loader->profile, module->path, &module->build_id);
}

/* Names the functions at an address, outermost first, as a profile stores them. */
static int make_lines(struct loader *loader, const struct symbol_frame *frames, size_t count,
		      struct owner owner, struct profile_line *lines)
{
	struct strings *strings = &loader->profile->strings;
	/* A runtime is free in how it names compiled code. */
	bool shortens = loader->options->short_names && owner.origin != ORIGIN_JIT &&
			owner.origin != ORIGIN_INTERPRETED;
	size_t i;

	loader->may_be_cut = loader->may_be_cut || owner.origin == ORIGIN_TRUNCATED;
	for (i = 0; i < count; i++) {
		const struct symbol_frame *frame = &frames[count - 1 - i];
		uint32_t file = strings_add(strings, frame->file ? frame->file : "");
		struct profile_function function = {
			.file = i == 0 && owner.home != HOME_IS_FILE ? owner.home : file,
			.module = owner.module,
			.origin = owner.origin,
		};
		SCOPED(mem)
		char *shorter = shortens ? short_name(frame->function) : NULL;

		function.name = strings_add(strings, shorter ? shorter : frame->function);
		if (file == ID_NONE || function.file == ID_NONE || function.name == ID_NONE)
			return -ENOMEM;
		if (frame->tree > 0 &&
		    profile_sources_add(&loader->profile->sources,
					&(struct profile_source){.path = file,
								 .tree = frame->tree,
								 .module = owner.module_id,
								 .is_script = owner.origin ==
									      ORIGIN_INTERPRETED}) <
			    0)
			return -ENOMEM;
		lines[i].line = frame->line;
		lines[i].file = file == function.file ? 0 : file;
		lines[i].function = profile_function_of(loader->profile, &function);
		if (lines[i].function == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Stores how well the location of a frame is known, and its module. Returns 0 or -ENOMEM. */
static int judge_place(struct loader *loader, uint32_t location, const struct load_judged *judged)
{
	while (loader->judged.count <= location)
		if (vec_push(&loader->judged, (struct load_judged){.frame = ID_NONE}) < 0)
			return -ENOMEM;
	if (loader->judged.items[location].frame != ID_NONE &&
	    loader->judged.items[location].frame != judged->frame)
		loader->one_to_one = false;
	loader->judged.items[location] = *judged;
	return 0;
}

/* A frame whose name is in the recording: the place and those it is inlined into. */
static uint32_t locate_place(struct loader *loader, uint32_t frame_id)
{
	const struct frame *frame = &loader->dictionary->frames.items[frame_id];
	const struct dictionary *dictionary = loader->dictionary;
	struct symbol_frame frames[PLACES_MAX];
	struct profile_line lines[PLACES_MAX];
	const struct place *place = &dictionary->places.items[frame->a];
	const struct module *in = place->module < dictionary->modules.count
					  ? &dictionary->modules.items[place->module]
					  : NULL;
	struct profile_location key = {.module = module_string(loader, in), .vaddr = frame->b};
	uint32_t origin = place->origin <= ORIGIN_INTERPRETED ? place->origin : ORIGIN_UNKNOWN;
	struct load_judged judged = {.frame = frame_id};
	uint32_t at;
	size_t count = 0;

	for (at = frame->a; at < dictionary->places.count && count < PLACES_MAX;
	     at = dictionary->places.items[at].outer) {
		place = &dictionary->places.items[at];
		frames[count++] = (struct symbol_frame){
			.function = place->name,
			.file = place->file,
			.line = place->line,
			.tree = origin == ORIGIN_INTERPRETED ? script_folder(place->file) : 0};
	}
	if (!loader->options->inlines) {
		frames[0] = frames[count - 1];
		count = 1;
	}
	if (key.module == ID_NONE ||
	    make_lines(loader, frames, count,
		       (struct owner){key.module, (enum function_origin)origin,
				      home_of(loader, frame, &frames[count - 1]), MODULE_NONE},
		       lines) < 0 ||
	    note_module(loader, key.module, in) < 0)
		return ID_NONE;
	key.line_count = (uint32_t)count;
	at = profile_location_of(loader->profile, key, lines);
	judged.quality = origin == ORIGIN_UNKNOWN ? SYMBOL_NONE : SYMBOL_NAME_ONLY;
	if (origin == ORIGIN_INTERPRETED && frames[0].line > 0)
		judged.quality = SYMBOL_FULL;
	judged.module = place->module;
	return at != ID_NONE && judge_place(loader, at, &judged) == 0 ? at : ID_NONE;
}

/* It wraps functions of other modules inside a program: what it does is not the program's work. */
#define OWN_LIBRARY "/libwick-preload.so"

uint32_t loader_locate(struct loader *loader, uint32_t frame_id, bool exact)
{
	const struct frame *frame = &loader->dictionary->frames.items[frame_id];
	uint32_t *known = exact ? &loader->located.items[frame_id].exact
				: &loader->located.items[frame_id].caller;
	uint64_t address = exact || frame->b == 0 ? frame->b : frame->b - 1;
	const struct module *in = frame_module(loader->dictionary, frame);
	struct profile_location key = {0};
	const struct symbol_frame *frames;
	struct symbol_frame kept[MAX_LINES]; /* another address may be looked up */
	struct profile_line lines[MAX_LINES];
	struct load_judged judged = {.frame = frame_id, .module = in ? frame->a : MODULE_NONE};
	enum symbol_quality quality;
	size_t count;

	if (*known != ID_NONE)
		return *known;
	if (frame->kind == FRAME_CUSTOM && frame->a < loader->dictionary->places.count) {
		*known = locate_place(loader, frame_id);
		return *known;
	}
	key.module = module_string(loader, in);
	quality = resolve(loader, frame, address, &frames, &count);
	/* The function itself is the last one. */
	if (!loader->options->inlines || (in && strstr(in->path, OWN_LIBRARY))) {
		frames += count - 1;
		count = 1;
	}
	if (count > MAX_LINES) {
		frames += count - MAX_LINES;
		count = MAX_LINES;
	}
	memcpy(kept, frames, count * sizeof(*kept));
	if (key.module == ID_NONE ||
	    make_lines(loader, kept, count,
		       (struct owner){key.module, frame_origin(loader->dictionary, frame, quality),
				      home_of(loader, frame, &kept[count - 1]), judged.module},
		       lines) < 0)
		return ID_NONE;
	if (note_module(loader, key.module, in) < 0)
		return ID_NONE;
	/* Names may come later: the address is then the one that they are looked up by. */
	key.vaddr = loader->options->no_files && quality >= SYMBOL_NONE ? address : frame->b;
	key.line_count = (uint32_t)count;
	*known = profile_location_of(loader->profile, key, lines);
	judged.quality = (uint8_t)quality;
	if (*known == ID_NONE || judge_place(loader, *known, &judged) < 0)
		return ID_NONE;
	return *known;
}

/* The innermost function of a stack, ID_NONE if it is empty. */
static uint32_t innermost(const struct profile *profile, uint32_t stack)
{
	uint32_t i;

	if (stack == 0)
		return ID_NONE;
	i = profile->stacks.nodes.items[stack].frame;
	i = profile->locations.items[i].first_line + profile->locations.items[i].line_count - 1;
	return profile->lines.items[i].function;
}

int loader_collapse(struct loader *loader, uint32_t above, uint32_t *location)
{
	struct profile *profile = loader->profile;
	struct profile_location at = profile->locations.items[*location];
	struct load_judged judged = loader->judged.items[*location];
	struct profile_line lines[MAX_LINES];
	uint32_t last = innermost(profile, above);
	uint32_t count = 0;
	uint32_t i;

	for (i = 0; i < at.line_count && i < MAX_LINES; i++) {
		struct profile_line line = profile->lines.items[at.first_line + i];

		if (line.function != last)
			lines[count++] = line;
		last = line.function;
	}
	if (count == 0 || count == at.line_count)
		return count > 0;
	at.line_count = count;
	*location = profile_location_of(profile, at, lines);
	return *location == ID_NONE || judge_place(loader, *location, &judged) < 0 ? -ENOMEM : 1;
}
