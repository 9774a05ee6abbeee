/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/load.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_dir.h"
#include "base/error.h"
#include "base/scope.h"
#include "export/export.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "pipeline/convert.h"
#include "pipeline/profile_facts.h"
#include "pipeline/samples.h"
#include "pipeline/short_name.h"
#include "pipeline/spool.h"
#include "pipeline/stack_filter.h"
#include "pipeline/thread_state.h"
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
	VEC(struct judged) judged;    /* by location */
	VEC(struct profile_gap) gaps; /* by module id, and one more for addresses in none */
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
	vec_fini(&loader->judged);
	vec_fini(&loader->gaps);
	cache_dir_fini(&loader->cache);
}

/* Passes on a descriptor unless it is a directory's, which it closes. */
static int refuse_directory(int fd, const char *path, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode))
		return fd;
	(void)close(fd); /* only opened to look at it */
	(void)error_set(err, -EISDIR, "%s is a directory, not a recording", path);
	error_remedy(err, "name a file that wick record wrote");
	return -EISDIR;
}

int load_open(const char *path, struct error *err)
{
	int fd;

	if (strcmp(path, "-") == 0) {
		if (isatty(STDIN_FILENO)) {
			(void)error_set(err, -EINVAL, "standard input is a terminal");
			error_remedy(err, "pipe a recording in, or name a file");
			return -EINVAL;
		}
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return error_errno(err, -errno, "cannot read standard input");
		return convert_fd(fd, "standard input", err);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int code = -errno;

		(void)error_errno(err, code, "cannot open %s", path);
		if (code == -ENOENT)
			error_remedy(err, "make one with: wick record -o %s -- COMMAND", path);
		return code;
	}
	fd = refuse_directory(fd, path, err);
	return fd < 0 ? fd : convert_fd(fd, path, err);
}

/* Whether a module is the program of some process; else it is a library. */
static bool is_program(const struct dictionary *dictionary, const char *path)
{
	size_t i;

	for (i = 0; i < dictionary->processes.count; i++)
		if (dictionary->processes.items[i].executable == path)
			return true; /* both are interned in the same table */
	return false;
}

/* The module of a frame, NULL for none. Only code in files and the kernel has one. */
static const struct module *module_of(const struct dictionary *dictionary,
				      const struct frame *frame)
{
	if (frame->kind != FRAME_NATIVE && frame->kind != FRAME_KERNEL)
		return NULL; /* a is no module id */
	return frame->a < dictionary->modules.count ? &dictionary->modules.items[frame->a] : NULL;
}

static enum function_origin origin_of(const struct dictionary *dictionary,
				      const struct frame *frame, enum symbol_quality quality)
{
	const struct module *module = module_of(dictionary, frame);

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

/* What stands for frames whose names are not in the recording. */
static const struct symbol_frame *placeholder(uint32_t kind)
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

static enum symbol_quality resolve(struct loader *loader, const struct frame *frame,
				   uint64_t address, const struct symbol_frame **ret_frames,
				   size_t *ret_count)
{
	const struct module *module = module_of(loader->dictionary, frame);

	if (frame->kind == FRAME_KERNEL)
		return symboliser_resolve_kernel(loader->symboliser, address, ret_frames,
						 ret_count);
	if (frame->kind == FRAME_NATIVE)
		return symboliser_resolve(loader->symboliser, module,
					  module ? frame->a : MODULE_NONE, address, ret_frames,
					  ret_count);
	*ret_frames = placeholder(frame->kind);
	*ret_count = 1;
	return frame->kind == FRAME_TRUNCATED ? SYMBOL_NAME_ONLY : SYMBOL_NONE;
}

/* Names the functions at an address, the outermost first, as a profile wants them. */
static int make_lines(struct loader *loader, const struct symbol_frame *frames, size_t count,
		      const char *module, enum function_origin origin, struct profile_line *lines)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct symbol_frame *frame = &frames[count - 1 - i];
		SCOPED(mem)
		char *shorter = loader->options->short_names ? short_name(frame->function) : NULL;

		lines[i].line = frame->line;
		lines[i].function =
			profile_function(loader->profile, shorter ? shorter : frame->function,
					 frame->file ? frame->file : "", module, origin);
		if (lines[i].function == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Notes how well a location is known, and of which module it is. 0 or -ENOMEM. */
static int judge_place(struct loader *loader, uint32_t location, enum symbol_quality quality,
		       uint32_t module)
{
	while (loader->judged.count <= location)
		if (vec_push(&loader->judged, (struct judged){0}) < 0)
			return -ENOMEM;
	loader->judged.items[location] = (struct judged){(uint8_t)quality, module};
	return 0;
}

/* A frame whose name is in the recording: the place and those it is inlined into. */
static uint32_t locate_place(struct loader *loader, const struct frame *frame)
{
	const struct dictionary *dictionary = loader->dictionary;
	struct symbol_frame frames[PLACES_MAX];
	struct profile_line lines[PLACES_MAX];
	const struct place *place = &dictionary->places.items[frame->a];
	const struct module *in = place->module < dictionary->modules.count
					  ? &dictionary->modules.items[place->module]
					  : NULL;
	const char *module = in ? in->path : "";
	uint32_t origin = place->origin <= ORIGIN_TRUNCATED ? place->origin : ORIGIN_UNKNOWN;
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
	if (make_lines(loader, frames, count, module, (enum function_origin)origin, lines) < 0 ||
	    (in && profile_module(loader->profile, module, &in->build_id) < 0))
		return ID_NONE;
	at = profile_location(loader->profile, module, frame->b, lines, (uint32_t)count);
	return at != ID_NONE && judge_place(loader, at,
					    origin == ORIGIN_UNKNOWN ? SYMBOL_NONE
								     : SYMBOL_NAME_ONLY,
					    place->module) == 0
		       ? at
		       : ID_NONE;
}

/* The location of a frame, ID_NONE without memory. */
static uint32_t locate(struct loader *loader, uint32_t frame_id, bool exact)
{
	const struct frame *frame = &loader->dictionary->frames.items[frame_id];
	uint32_t *known = exact ? &loader->located.items[frame_id].exact
				: &loader->located.items[frame_id].caller;
	uint64_t address = exact || frame->b == 0 ? frame->b : frame->b - 1;
	const struct module *in = module_of(loader->dictionary, frame);
	const char *module = in ? in->path : "";
	const struct symbol_frame *frames;
	struct profile_line lines[MAX_LINES];
	enum symbol_quality quality;
	size_t count;

	if (*known != ID_NONE)
		return *known;
	if (frame->kind == FRAME_CUSTOM && frame->a < loader->dictionary->places.count) {
		*known = locate_place(loader, frame);
		return *known;
	}
	quality = resolve(loader, frame, address, &frames, &count);
	if (!loader->options->inlines) { /* the function proper is the last one */
		frames += count - 1;
		count = 1;
	}
	if (count > MAX_LINES)
		count = MAX_LINES;
	if (make_lines(loader, frames, count, module, origin_of(loader->dictionary, frame, quality),
		       lines) < 0)
		return ID_NONE;
	if (in && profile_module(loader->profile, module, &in->build_id) < 0)
		return ID_NONE;
	*known = profile_location(loader->profile, module, frame->b, lines, (uint32_t)count);
	if (*known == ID_NONE)
		return ID_NONE;
	return judge_place(loader, *known, quality, in ? frame->a : MODULE_NONE) == 0 ? *known
										      : ID_NONE;
}

static bool is_kernel(const struct dictionary *dictionary, uint32_t node)
{
	uint32_t frame = dictionary->stacks.nodes.items[node].frame;

	const struct frame *item = &dictionary->frames.items[frame];

	if (node == 0)
		return false;
	if (item->kind == FRAME_CUSTOM && item->a < dictionary->places.count)
		return dictionary->places.items[item->a].origin == ORIGIN_KERNEL;
	return item->kind == FRAME_KERNEL;
}

/*
 * Rebuilds one node below its parent, which has a smaller id and is done. The
 * user frame that entered the kernel was interrupted at its address, it did not
 * call: it counts as a leaf.
 */
static int rebuild_node(struct loader *loader, uint32_t node, bool as_leaf, uint32_t *ret)
{
	const struct dictionary *dictionary = loader->dictionary;
	struct stack_node item = dictionary->stacks.nodes.items[node];
	bool entry = is_kernel(dictionary, node) && !is_kernel(dictionary, item.parent);
	struct rebuilt *parent = &loader->rebuilt.items[item.parent];
	uint32_t *above = entry ? &parent->leaf : &parent->caller;
	uint32_t location;

	if (*above == ID_NONE) {
		int r = rebuild_node(loader, item.parent, entry, above);

		if (r < 0)
			return r;
	}
	if (!loader->options->kernel && is_kernel(dictionary, node)) {
		*ret = *above; /* its time goes to the function that entered the kernel */
		return 0;
	}
	location = locate(loader, item.frame, as_leaf);
	if (location == ID_NONE)
		return -ENOMEM;
	*ret = stack_tree_child(&loader->profile->stacks, *above, location);
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
		r = profile_add_entry(loader->profile, entry, values);
	if (r == 0)
		r = profile_add_state(loader->profile, state, values);
	if (r == 0 && loader->options->slices)
		r = vec_push(&loader->profile->moments,
			     (struct profile_moment){sum->slice, stack, {values[0], values[1]}});
	return r;
}

static int add_sums(struct loader *loader, struct stack_filter *filter)
{
	size_t i;

	for (i = 0; i < loader->samples.sums.count; i++) {
		const struct sample_sum *sum = &loader->samples.sums.items[i];
		uint32_t stack;
		int r = rebuild(loader, sum->stack, &stack);

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
	    FILL(&loader->threads, loader->dictionary->threads.count) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	loader->rebuilt.items[0] = (struct rebuilt){0, 0};
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

static uint32_t keep_id(struct profile *profile, const char *text)
{
	uint32_t id = strings_add(&profile->strings, text ? text : "");

	return id == ID_NONE ? 0 : id;
}

/* Why samples that end in a module have no names, or no lines. */
static const char *problem_of(const struct loader *loader, const struct module *module, uint32_t id,
			      struct profile_gap *gap)
{
	const char *problem = symboliser_module_problem(loader->symboliser, id);
	bool has_lines = symboliser_module_has_lines(loader->symboliser, id);

	if (!module)
		return "addresses in no module";
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE) {
		gap->curable = true;
		return "the kernel's names may not be read, or were not kept";
	}
	gap->curable = module->kind == MODULE_FILE && (problem || !has_lines);
	if (problem)
		return problem;
	if (!has_lines)
		return "no debug information: names without lines";
	return gap->unnamed > 0 ? "no symbol covers these addresses"
				: "parts were built without debug information";
}

/* Lines of the kernel are not looked up, nor are others when names alone are wanted. */
static bool is_gap(const struct loader *loader, const struct module *module,
		   const struct profile_gap *gap)
{
	bool has_lines =
		!module || (module->kind != MODULE_KERNEL && module->kind != MODULE_KERNEL_MODULE);

	return gap->unnamed > 0 ||
	       (gap->unlined > 0 && has_lines && loader->options->symbols != SYMBOLS_NAMES);
}

/* Lists the modules in which samples end that could be named better. */
static int describe_gaps(struct loader *loader)
{
	struct profile *profile = loader->profile;

	for (size_t i = 0; i < loader->gaps.count; i++) {
		struct profile_gap gap = loader->gaps.items[i];
		bool is_module = i < loader->dictionary->modules.count;
		const struct module *module =
			is_module ? &loader->dictionary->modules.items[i] : NULL;
		char build_id[2 * BUILD_ID_MAX + 1] = "";

		if (!is_gap(loader, module, &gap))
			continue;
		if (module)
			build_id_format(&module->build_id, build_id);
		gap.module = keep_id(profile, module ? module->path : "");
		gap.build_id = keep_id(profile, build_id);
		gap.problem = keep_id(profile, problem_of(loader, module, (uint32_t)i, &gap));
		if (vec_push(&profile->gaps, gap) < 0)
			return -ENOMEM;
	}
	return 0;
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
			r = describe_gaps(&loader);
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
	struct label_set set = {0};
	uint32_t i;

	if (id < dictionary->label_sets.count)
		set = dictionary->label_sets.items[id];
	for (i = 0; i < set.count && i < LABELS_MAX; i++) {
		struct label_pair pair = dictionary->label_pairs.items[set.first + i];

		labels[i].key = strings_get(&dictionary->strings, pair.key);
		labels[i].value = strings_get(&dictionary->strings, pair.value);
		if (strcmp(labels[i].key, "state") == 0)
			labels[i].value = thread_state_in_words(labels[i].value);
	}
	return i;
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
		.event = samples->event,
		.value = samples->value,
		.unit = samples->unit,
		.labels = labels,
		.label_count = labels_of(loader->dictionary, batch->labels[i], labels),
	};
	int r = rebuild(loader, batch->stack[i], &sample.stack);

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
	stack_filter_fini(&filter);
	loader_fini(&loader);
	return r;
}
