/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/load.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache_dir.h"
#include "base/error.h"
#include "base/scope.h"
#include "export/export.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "pipeline/frame_origin.h"
#include "pipeline/function_homes.h"
#include "pipeline/load_gaps.h"
#include "pipeline/load_open.h"
#include "pipeline/profile_facts.h"
#include "pipeline/samples.h"
#include "pipeline/short_name.h"
#include "pipeline/spool.h"
#include "pipeline/stack_filter.h"
#include "pipeline/thread_state.h"
#include "symbol/jit_symbols.h"
#include "symbol/symbol_store.h"
#include "symbol/symboliser.h"

#define MAX_LINES 256u /* functions inlined at one address, and the one they are in */

/* What a frame of the recording became: a location, for each way to look it up. */
struct located {
	uint32_t exact;  /* the address itself: a leaf */
	uint32_t caller; /* the instruction before it: a return address */
};

/* What a stack node of the recording became. */
struct rebuilt {
	uint32_t leaf;   /* node in the profile, when the sample ends here */
	uint32_t caller; /* when more frames follow */
};

/* How well an address is known. */
struct judged {
	uint8_t quality; /* enum symbol_quality */
	uint32_t module; /* MODULE_NONE: in none */
	uint32_t frame;  /* of the recording, that it came from first */
};

struct loader {
	const struct load_options *options;
	const struct dictionary *dictionary;
	struct samples samples;
	struct symboliser *symboliser;
	struct profile *profile;
	VEC(struct located) located;
	VEC(struct rebuilt) rebuilt;
	VEC(uint32_t) threads;
	VEC(uint32_t) labels;      /* by set of the recording: that of the profile */
	VEC(bool) kernel_frames;   /* by frame of the recording */
	VEC(struct judged) judged; /* by location */
	/*
	 * Each node of the recording becomes one of its own: a stack need not be looked
	 * for before it is added. Not so once two frames have become one location.
	 */
	bool one_to_one;
	VEC(struct profile_gap) gaps; /* by module id, and one more for addresses in none */
	struct function_homes homes;
	struct cache_dir cache;
};

static void loader_fini(struct loader *loader)
{
	samples_fini(&loader->samples);
	symboliser_free(loader->symboliser);
	profile_free(loader->profile);
	vec_fini(&loader->located);
	vec_fini(&loader->rebuilt);
	vec_fini(&loader->threads);
	vec_fini(&loader->kernel_frames);
	vec_fini(&loader->labels);
	vec_fini(&loader->judged);
	vec_fini(&loader->gaps);
	function_homes_fini(&loader->homes);
	cache_dir_fini(&loader->cache);
}

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

/* Asks where the function of a frame begins; frames that were resolved before are gone. */
static uint32_t find_home(struct loader *loader, const struct frame *frame,
			  const struct symbol_frame *own)
{
	struct function_home home = {.module = frame->a, .start = own->start};
	const char *file = own->file;
	const struct symbol_frame *frames;
	size_t count;

	if (resolve(loader, frame, own->start, &frames, &count) == SYMBOL_FULL &&
	    frames[count - 1].start == own->start && frames[count - 1].file)
		file = frames[count - 1].file;
	home.file = strings_add(&loader->profile->strings, file);
	return home.file == ID_NONE || function_homes_add(&loader->homes, home) < 0 ? ID_NONE
										    : home.file;
}

/*
 * The file in which the function of a frame begins, which tells it from others of its name.
 * One that includes parts of itself, or comes from a generator, has lines in several.
 * ID_NONE without memory.
 */
static uint32_t home_of(struct loader *loader, const struct frame *frame,
			const struct symbol_frame *own)
{
	const struct module *module = frame_module(loader->dictionary, frame);
	uint32_t file;

	/* Compiled functions are told apart by name: runtimes put the file into it. */
	if (module && module->kind == MODULE_ANONYMOUS)
		return strings_add(&loader->profile->strings, "");
	if (own->start == 0 || !own->file || frame->kind != FRAME_NATIVE)
		return strings_add(&loader->profile->strings, own->file ? own->file : "");
	file = function_homes_find(&loader->homes, frame->a, own->start);
	return file == ID_NONE ? find_home(loader, frame, own) : file;
}

/* What the functions at an address have in common, and the file of the one they are in. */
struct owner {
	const char *module;
	enum function_origin origin;
	uint32_t home; /* see home_of() */
};

/* Names the functions at an address, the outermost first, as a profile wants them. */
static int make_lines(struct loader *loader, const struct symbol_frame *frames, size_t count,
		      struct owner owner, struct profile_line *lines)
{
	struct strings *strings = &loader->profile->strings;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct symbol_frame *frame = &frames[count - 1 - i];
		uint32_t file = strings_add(strings, frame->file ? frame->file : "");
		uint32_t own = i == 0 ? owner.home : file;
		SCOPED(mem)
		char *shorter = loader->options->short_names ? short_name(frame->function) : NULL;

		if (file == ID_NONE || own == ID_NONE)
			return -ENOMEM;
		lines[i].line = frame->line;
		lines[i].file = file == own ? 0 : file;
		lines[i].function =
			profile_function(loader->profile, shorter ? shorter : frame->function,
					 strings_get(strings, own), owner.module, owner.origin);
		if (lines[i].function == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Notes how well the location of a frame is known, and of which module it is. 0 or -ENOMEM. */
static int judge_place(struct loader *loader, uint32_t location, const struct judged *judged)
{
	while (loader->judged.count <= location)
		if (vec_push(&loader->judged, (struct judged){.frame = ID_NONE}) < 0)
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
	const char *module = in ? in->path : "";
	uint32_t origin = place->origin <= ORIGIN_TRUNCATED ? place->origin : ORIGIN_UNKNOWN;
	struct judged judged = {.frame = frame_id};
	uint32_t at;
	size_t count = 0;

	for (at = frame->a; at < dictionary->places.count && count < PLACES_MAX;
	     at = dictionary->places.items[at].outer) {
		place = &dictionary->places.items[at];
		frames[count++] = (struct symbol_frame){
			.function = place->name, .file = place->file, .line = place->line};
	}
	if (!loader->options->inlines) {
		frames[0] = frames[count - 1];
		count = 1;
	}
	if (make_lines(loader, frames, count,
		       (struct owner){module, (enum function_origin)origin,
				      home_of(loader, frame, &frames[count - 1])},
		       lines) < 0 ||
	    (in && profile_module(loader->profile, module, &in->build_id) < 0))
		return ID_NONE;
	at = profile_location(loader->profile, module, frame->b, lines, (uint32_t)count);
	judged.quality = origin == ORIGIN_UNKNOWN ? SYMBOL_NONE : SYMBOL_NAME_ONLY;
	judged.module = place->module;
	return at != ID_NONE && judge_place(loader, at, &judged) == 0 ? at : ID_NONE;
}

/* The location of a frame, ID_NONE without memory. */
static uint32_t locate(struct loader *loader, uint32_t frame_id, bool exact)
{
	const struct frame *frame = &loader->dictionary->frames.items[frame_id];
	uint32_t *known = exact ? &loader->located.items[frame_id].exact
				: &loader->located.items[frame_id].caller;
	uint64_t address = exact || frame->b == 0 ? frame->b : frame->b - 1;
	const struct module *in = frame_module(loader->dictionary, frame);
	const char *module = in ? in->path : "";
	const struct symbol_frame *frames;
	struct symbol_frame kept[MAX_LINES]; /* another address may be looked up */
	struct profile_line lines[MAX_LINES];
	struct judged judged = {.frame = frame_id, .module = in ? frame->a : MODULE_NONE};
	enum symbol_quality quality;
	size_t count;

	if (*known != ID_NONE)
		return *known;
	if (frame->kind == FRAME_CUSTOM && frame->a < loader->dictionary->places.count) {
		*known = locate_place(loader, frame_id);
		return *known;
	}
	quality = resolve(loader, frame, address, &frames, &count);
	if (!loader->options->inlines) { /* the function proper is the last one */
		frames += count - 1;
		count = 1;
	}
	if (count > MAX_LINES) {
		frames += count - MAX_LINES;
		count = MAX_LINES;
	}
	memcpy(kept, frames, count * sizeof(*kept));
	if (make_lines(loader, kept, count,
		       (struct owner){module, frame_origin(loader->dictionary, frame, quality),
				      home_of(loader, frame, &kept[count - 1])},
		       lines) < 0)
		return ID_NONE;
	if (in && profile_module(loader->profile, module, &in->build_id) < 0)
		return ID_NONE;
	*known = profile_location(loader->profile, module, frame->b, lines, (uint32_t)count);
	judged.quality = (uint8_t)quality;
	if (*known == ID_NONE || judge_place(loader, *known, &judged) < 0)
		return ID_NONE;
	return *known;
}

static bool is_kernel_frame(const struct dictionary *dictionary, const struct frame *frame)
{
	if (frame->kind == FRAME_CUSTOM && frame->a < dictionary->places.count)
		return dictionary->places.items[frame->a].origin == ORIGIN_KERNEL;
	return frame->kind == FRAME_KERNEL;
}

/* Each frame is looked at once: stacks have them again and again. 0 or -ENOMEM. */
static int note_kernel_frames(struct loader *loader)
{
	const struct dictionary *dictionary = loader->dictionary;
	size_t i;

	if (vec_reserve(&loader->kernel_frames, dictionary->frames.count) < 0)
		return -ENOMEM;
	for (i = 0; i < dictionary->frames.count; i++)
		loader->kernel_frames.items[i] =
			is_kernel_frame(dictionary, &dictionary->frames.items[i]);
	loader->kernel_frames.count = dictionary->frames.count;
	return 0;
}

static bool is_kernel(const struct loader *loader, uint32_t node)
{
	return node != 0 &&
	       loader->kernel_frames.items[loader->dictionary->stacks.nodes.items[node].frame];
}

/*
 * What the node became in its other role (leaf or caller), if it would become the same in
 * this one; ID_NONE otherwise.
 */
static uint32_t find_twin(const struct loader *loader, uint32_t node, uint32_t above,
			  uint32_t location)
{
	const struct stack_node *made = loader->profile->stacks.nodes.items;
	struct rebuilt known = loader->rebuilt.items[node];
	uint32_t twin = known.leaf != ID_NONE ? known.leaf : known.caller;

	return twin != ID_NONE && made[twin].parent == above && made[twin].frame == location
		       ? twin
		       : ID_NONE;
}

/*
 * Rebuilds one node below its parent, which has a smaller id and is done. The
 * user frame that entered the kernel was interrupted at its address, it did not
 * call: it counts as a leaf.
 */
static int rebuild_node(struct loader *loader, uint32_t node, bool as_leaf, uint32_t *ret)
{
	struct stack_node item = loader->dictionary->stacks.nodes.items[node];
	bool entry = is_kernel(loader, node) && !is_kernel(loader, item.parent);
	struct rebuilt *parent = &loader->rebuilt.items[item.parent];
	uint32_t *above = entry ? &parent->leaf : &parent->caller;
	uint32_t location;

	if (*above == ID_NONE) {
		int r = rebuild_node(loader, item.parent, entry, above);

		if (r < 0)
			return r;
	}
	if (!loader->options->kernel && is_kernel(loader, node)) {
		*ret = *above; /* its time goes to the function that entered the kernel */
		return 0;
	}
	location = locate(loader, item.frame, as_leaf);
	if (location == ID_NONE)
		return -ENOMEM;
	*ret = find_twin(loader, node, *above, location);
	if (*ret == ID_NONE)
		*ret = loader->one_to_one
			       ? stack_tree_append(&loader->profile->stacks, *above, location)
			       : stack_tree_child(&loader->profile->stacks, *above, location);
	return *ret == ID_NONE ? -ENOMEM : 0;
}

/*
 * The profile's stack for a node of the recording. Goes up to the first ancestor
 * that is done and then down, so that a deep stack needs no deep recursion.
 */
static int rebuild(struct loader *loader, uint32_t node, uint32_t *ret)
{
	const struct stack_node *nodes = loader->dictionary->stacks.nodes.items;
	VEC(uint32_t) path = {0};
	uint32_t at;
	size_t i;
	int r = 0;

	for (at = nodes[node].parent;
	     at != 0 && loader->rebuilt.items[at].caller == ID_NONE && r == 0;
	     at = nodes[at].parent)
		r = vec_push(&path, at);
	for (i = path.count; i-- > 0 && r == 0;)
		r = rebuild_node(loader, path.items[i], false,
				 &loader->rebuilt.items[path.items[i]].caller);
	if (r == 0 && loader->rebuilt.items[node].leaf == ID_NONE)
		r = rebuild_node(loader, node, true, &loader->rebuilt.items[node].leaf);
	*ret = loader->rebuilt.items[node].leaf;
	vec_fini(&path);
	return r;
}

/* Forgets what the frames of a stack became. */
static void forget(struct loader *loader, uint32_t node)
{
	const struct stack_node *nodes = loader->dictionary->stacks.nodes.items;

	for (; node != 0; node = nodes[node].parent) {
		loader->rebuilt.items[node] = (struct rebuilt){ID_NONE, ID_NONE};
		loader->located.items[nodes[node].frame] = (struct located){ID_NONE, ID_NONE};
	}
}

/* The same for a sample of a time: compiled code may have changed. */
static int rebuild_at(struct loader *loader, uint32_t node, uint64_t time_ns, uint32_t *ret)
{
	int timed = samples_is_timed(&loader->samples, node);
	int r;

	if (timed <= 0)
		return timed < 0 ? timed : rebuild(loader, node, ret);
	symboliser_set_time(loader->symboliser, time_ns);
	forget(loader, node);
	r = rebuild(loader, node, ret);
	forget(loader, node);
	return r;
}

static int thread_of(struct loader *loader, uint32_t id, uint32_t *ret)
{
	const struct thread *thread = &loader->dictionary->threads.items[id];
	const struct process *process = &loader->dictionary->processes.items[thread->process];

	if (loader->threads.items[id] == ID_NONE)
		loader->threads.items[id] = profile_thread(
			loader->profile, process->pid, thread->tid, thread->comm, process->comm);
	*ret = loader->threads.items[id];
	return *ret == ID_NONE ? -ENOMEM : 0;
}

static void judge_leaf(struct loader *loader, const struct judged *leaf, uint64_t count)
{
	struct profile_quality *quality = &loader->profile->quality;
	size_t last = loader->gaps.count - 1;
	struct profile_gap *gap =
		&loader->gaps.items[leaf->module < last ? (size_t)leaf->module : last];

	quality->resolved += leaf->quality == SYMBOL_FULL ? count : 0;
	quality->name_only += leaf->quality == SYMBOL_NAME_ONLY ? count : 0;
	quality->unsymbolised += leaf->quality >= SYMBOL_NONE ? count : 0;
	quality->corrupted += leaf->quality == SYMBOL_DAMAGED ? count : 0;
	quality->invalid += leaf->quality == SYMBOL_INVALID ? count : 0;
	gap->unlined += leaf->quality == SYMBOL_NAME_ONLY ? count : 0;
	gap->unnamed += leaf->quality >= SYMBOL_NONE ? count : 0;
}

/* Adds to the counts of what is worth knowing about the quality of a stack. */
static void judge(struct loader *loader, uint32_t stack, uint64_t count)
{
	struct profile_quality *quality = &loader->profile->quality;
	const struct stack_node *nodes = loader->profile->stacks.nodes.items;
	uint32_t leaf = nodes[stack].frame;
	uint32_t root;

	quality->samples += count;
	if (stack == 0)
		return;
	judge_leaf(loader, &loader->judged.items[leaf], count);
	for (root = stack; nodes[root].parent != 0; root = nodes[root].parent)
		;
	if (profile_is_truncated(loader->profile, nodes[root].frame))
		quality->truncated += count;
}

/* The labels of a set but the state, which an entry tells apart. */
static int other_labels(struct loader *loader, uint32_t id, uint32_t *ret)
{
	uint32_t *known = id < loader->labels.count ? &loader->labels.items[id] : NULL;
	struct label labels[LABELS_MAX];
	size_t n;
	size_t kept = 0;
	size_t i;

	*ret = 0;
	if (!known)
		return 0;
	if (*known == ID_NONE) {
		n = label_sets_get(&loader->dictionary->labels, &loader->dictionary->strings, id,
				   labels);
		for (i = 0; i < n; i++)
			if (strcmp(labels[i].key, THREAD_STATE_LABEL) != 0)
				labels[kept++] = labels[i];
		*known = label_sets_add(&loader->profile->labels, &loader->profile->strings, labels,
					kept);
	}
	*ret = *known;
	return *ret == ID_NONE ? -ENOMEM : 0;
}

static int add_sum(struct loader *loader, const struct sample_sum *sum, uint32_t stack)
{
	const char *state = thread_state_of(loader->dictionary, sum->labels);
	const int64_t values[2] = {(int64_t)sum->count, (int64_t)sum->weight};
	struct profile_entry entry = {
		.stack = stack,
		.state = strings_add(&loader->profile->strings, state),
	};
	int r = entry.state == ID_NONE ? -ENOMEM : thread_of(loader, sum->thread, &entry.thread);

	if (r == 0)
		r = other_labels(loader, sum->labels, &entry.labels);
	if (r == 0)
		r = profile_add_entry(loader->profile, entry, values);
	if (r == 0)
		r = profile_add_state(loader->profile, state, values);
	if (r == 0 && loader->options->slices)
		r = vec_push(&loader->profile->moments,
			     (struct profile_moment){
				     sum->slice, stack, {values[0], values[1]}, entry.thread});
	return r;
}

static int add_sums(struct loader *loader, struct stack_filter *filter)
{
	size_t i;

	for (i = 0; i < loader->samples.sums.count; i++) {
		const struct sample_sum *sum = &loader->samples.sums.items[i];
		uint32_t stack;
		int r = rebuild_at(loader, sum->stack, sum->time_ns, &stack);

		if (r < 0)
			return r;
		if (!stack_filter_accepts(filter, loader->profile, stack))
			continue;
		judge(loader, stack, sum->count);
		r = add_sum(loader, sum, stack);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fill_with(size_t count, size_t item_bytes, void **ret_items, size_t *ret_count,
		     size_t *ret_capacity)
{
	*ret_items = malloc(count * item_bytes + 1);
	if (!*ret_items)
		return -ENOMEM;
	memset(*ret_items, 0xff, count * item_bytes); /* ID_NONE everywhere */
	*ret_count = *ret_capacity = count;
	return 0;
}

#define FILL(vec, n)                                                                               \
	fill_with((n), sizeof(*(vec)->items), (void **)&(vec)->items, &(vec)->count,               \
		  &(vec)->capacity)

static bool weighs_samples(const struct samples *samples)
{
	return samples->value && strcmp(samples->value, "samples") == 0;
}

static int prepare(struct loader *loader, struct error *err)
{
	enum symbol_detail asked = loader->options->symbols;
	struct symboliser_config config = {
		.demangle = loader->options->demangle,
		.merge_clones = true,
		.detail = asked == SYMBOLS_INLINES && !loader->options->inlines ? SYMBOLS_LINES
										: asked,
		.live = loader->options->fetch,
		.symbol_paths = loader->options->symbol_paths,
		.symbol_path_count = loader->options->symbol_path_count,
	};
	struct value_type types[2] = {{"samples", "count"}};
	int r;

	loader->dictionary = recording_reader_dictionary(loader->samples.reader);
	if (FILL(&loader->located, loader->dictionary->frames.count) < 0 ||
	    FILL(&loader->rebuilt, loader->dictionary->stacks.nodes.count) < 0 ||
	    FILL(&loader->threads, loader->dictionary->threads.count) < 0 ||
	    FILL(&loader->labels, loader->dictionary->labels.sets.count) < 0 ||
	    note_kernel_frames(loader) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	loader->rebuilt.items[0] = (struct rebuilt){0, 0};
	/* What the kernel did goes to its callers; compiled code has other names at other times. */
	loader->one_to_one =
		loader->options->kernel && !jit_symbols_have_shared(loader->samples.jit);
	for (size_t i = 0; i <= loader->dictionary->modules.count; i++)
		if (vec_push(&loader->gaps, (struct profile_gap){0}) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	if (loader->options->symbol_cache) {
		/* Without a directory of its own nothing is kept. */
		(void)cache_dir_init(&loader->cache, NULL, "symbols", SYMBOL_STORE_SUFFIX,
				     SYMBOL_STORE_LIMIT_BYTES);
		config.cache = &loader->cache;
	}
	r = symboliser_new(&config, &loader->symboliser, err);
	if (r < 0)
		return r;
	symboliser_set_kernel(loader->symboliser, loader->samples.kernel);
	symboliser_set_jit(loader->symboliser, loader->samples.jit);
	/* Where weights are counts of samples, both values would be the same. */
	if (profile_new(types, weighs_samples(&loader->samples) ? 1 : 2, &loader->profile) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static const char *keep_text(struct profile *profile, const char *text)
{
	uint32_t id = strings_add(&profile->strings, text ? text : "");

	return id == ID_NONE ? "" : strings_get(&profile->strings, id);
}

/* What the profile says about itself. */
static void describe(struct loader *loader)
{
	const struct samples *samples = &loader->samples;
	const struct load_options *options = loader->options;
	struct profile *profile = loader->profile;
	uint64_t duration_ns = samples->end_ns - samples->start_ns;
	uint64_t to_ns = options->to_ns < duration_ns ? options->to_ns : duration_ns;

	if (!weighs_samples(samples)) {
		profile->value_types[1] = (struct value_type){
			.name = keep_text(profile, samples->value),
			.unit = keep_text(profile, samples->unit),
		};
		profile->main_value = 1;
	}
	profile->title = keep_text(profile, samples->title);
	profile->slice_ns = samples->slice_ns;
	profile->duration_ns = to_ns > options->from_ns ? to_ns - options->from_ns : 0;
	/* Periods of events that are not time have no place among nanoseconds. */
	if (samples->unit && strcmp(samples->unit, "nanoseconds") == 0)
		profile->period_ns = samples->period;
	if (samples->clock_realtime_ns > 0)
		profile->start_realtime_ns = samples->clock_realtime_ns -
					     samples->clock_monotonic_ns + samples->start_ns +
					     options->from_ns;
	profile->quality.lost = samples->lost;
	profile->quality.unreadable = samples->damage.missing_samples;
	profile->quality.damaged_chunks = samples->damage.bad_chunks;
	profile->quality.incomplete = !samples->damage.complete;
}

int load_profile_fd(int fd, const char *name, const struct load_options *options,
		    struct profile **ret, struct error *err)
{
	struct loader loader = {.options = options, .cache = {.fd = -1}};
	struct stack_filter filter;
	int r = stack_filter_init(&filter, options, err);

	if (r < 0) {
		(void)close(fd); /* nothing was read yet */
		return r;
	}
	r = samples_read(&loader.samples, fd, name, options, err);
	if (r == 0)
		r = prepare(&loader, err);
	if (r == 0) {
		r = add_sums(&loader, &filter);
		if (r == 0)
			r = load_gaps(&(struct load_gaps_input){.symboliser = loader.symboliser,
								.dictionary = loader.dictionary,
								.symbols = options->symbols,
								.gaps = loader.gaps.items,
								.count = loader.gaps.count},
				      loader.profile);
		if (r == 0)
			r = profile_facts_add(loader.profile, &loader.samples, options);
		if (r < 0)
			(void)error_errno(err, r, "cannot build the profile");
	}
	if (r == 0) {
		describe(&loader);
		*ret = scope_take(&loader.profile);
	}
	stack_filter_fini(&filter);
	loader_fini(&loader);
	return r;
}

int load_profile(const char *path, const struct load_options *options, struct profile **ret,
		 struct error *err)
{
	int fd = load_open(path, err);

	if (fd < 0)
		return fd;
	return load_profile_fd(fd, strcmp(path, "-") ? path : "standard input", options, ret, err);
}

/* The second reading of a file, whose names the first one gathered. */
struct second_pass {
	struct loader *loader;
	struct stack_filter *filter;
	load_sample_fn *fn;
	void *self;
	struct error *err;
};

static size_t labels_of(const struct dictionary *dictionary, uint32_t id, struct label *labels)
{
	size_t n = label_sets_get(&dictionary->labels, &dictionary->strings, id, labels);
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(labels[i].key, THREAD_STATE_LABEL) == 0)
			labels[i].value = thread_state_in_words(labels[i].value);
	return n;
}

static int hand_out(struct second_pass *pass, const struct sample_batch *batch, size_t i)
{
	struct loader *loader = pass->loader;
	const struct samples *samples = &loader->samples;
	struct label labels[LABELS_MAX];
	struct export_sample sample = {
		.time_ns = batch->time_ns[i],
		.cpu = batch->cpu[i],
		.weight = batch->weight[i],
		.times = batch->times[i],
		.event = samples->event,
		.value = samples->value,
		.unit = samples->unit,
		.labels = labels,
		.label_count = labels_of(loader->dictionary, batch->labels[i], labels),
	};
	int r = rebuild_at(loader, batch->stack[i], sample.time_ns, &sample.stack);

	if (r == 0)
		r = thread_of(loader, batch->thread[i], &sample.thread);
	if (r < 0)
		return error_errno(pass->err, r, "cannot build the stack");
	if (!stack_filter_accepts(pass->filter, loader->profile, sample.stack))
		return 0;
	if (sample.time_ns > samples->start_ns)
		sample.since_ns = sample.time_ns - samples->start_ns;
	if (samples->clock_realtime_ns > 0)
		sample.realtime_ns =
			samples->clock_realtime_ns - samples->clock_monotonic_ns + sample.time_ns;
	return pass->fn(pass->self, loader->profile, &sample, pass->err);
}

static int take_again(void *self, const struct sample_batch *batch)
{
	struct second_pass *pass = self;
	const struct dictionary *dictionary = pass->loader->dictionary;
	size_t i;
	int r = 0;

	for (i = 0; i < batch->count && r == 0; i++) {
		bool wanted;

		/* Of a file that grows only what was there the first time. */
		if (batch->stack[i] >= dictionary->stacks.nodes.count ||
		    batch->thread[i] >= dictionary->threads.count)
			continue;
		r = samples_want(&pass->loader->samples, batch, i, &wanted);
		if (r == 0 && wanted)
			r = hand_out(pass, batch, i);
	}
	return r;
}

static int read_again(struct second_pass *pass, int fd, const char *name, struct error *err)
{
	struct recording_visitor visitor = {.self = pass, .samples = take_again};
	struct recording_reader *reader = NULL;
	int r = recording_reader_open(fd, name, &reader, err);

	if (r < 0) {
		(void)close(fd); /* only read from */
		return r;
	}
	r = recording_reader_run(reader, &visitor, err);
	recording_reader_free(reader);
	return r;
}

int load_samples(const char *path, const struct load_options *options, load_sample_fn *fn,
		 void *self, struct error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct loader loader = {.options = options};
	struct stack_filter filter;
	struct second_pass pass = {&loader, &filter, fn, self, err};
	int again = -1;
	int fd = load_open(path, err);
	int r;

	if (fd < 0)
		return fd;
	fd = spool(fd, &again, err);
	if (fd < 0)
		return fd;
	r = stack_filter_init(&filter, options, err);
	if (r < 0) {
		(void)close(fd); /* nothing was read yet */
		(void)close(again);
		return r;
	}
	r = samples_read(&loader.samples, fd, name, options, err);
	if (r == 0)
		r = prepare(&loader, err);
	if (r == 0)
		describe(&loader);
	if (r == 0)
		r = read_again(&pass, again, name, err);
	else
		(void)close(again); /* only read from */
	if (r == 0)
		r = fn(self, loader.profile, NULL, err);
	stack_filter_fini(&filter);
	loader_fini(&loader);
	return r;
}
