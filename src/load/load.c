/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/owner.h"
#include "base/scope.h"
#include "heap/heap_profile.h"
#include "load/filter/stack_filter.h"
#include "load/filter/thread_state.h"
#include "load/load_gaps.h"
#include "load/load_open.h"
#include "load/load_quality.h"
#include "load/loader.h"
#include "load/names/frame_origin.h"
#include "load/names/kept_files.h"
#include "load/names/lock_name.h"
#include "load/profile_facts.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "symbol/disk_table.h"
#include "symbol/jit/jit_symbols.h"
#include "symbol/symbol_store.h"
#include "symbol/symboliser.h"

void loader_fini(struct loader *loader)
{
	samples_fini(&loader->samples);
	symboliser_free(loader->symboliser);
	profile_free(loader->profile);
	vec_fini(&loader->located);
	vec_fini(&loader->rebuilt);
	vec_fini(&loader->path);
	vec_fini(&loader->threads);
	vec_fini(&loader->kernel_frames);
	vec_fini(&loader->labels);
	vec_fini(&loader->judged);
	vec_fini(&loader->gaps);
	function_files_fini(&loader->homes);
	free(loader->heap_stacks);
	free(loader->pool_stacks);
	free(loader->heap_misuses);
	cache_dir_fini(&loader->cache);
	cache_dir_fini(&loader->tables);
}

/* Each frame is examined once, because many stacks share it. Returns 0 or -ENOMEM. */
static int note_kernel_frames(struct loader *loader)
{
	const struct dictionary *dictionary = loader->dictionary;
	size_t i;

	if (vec_reserve(&loader->kernel_frames, dictionary->frames.count) < 0)
		return -ENOMEM;
	for (i = loader->kernel_frames.count; i < dictionary->frames.count; i++)
		loader->kernel_frames.items[i] =
			frame_is_kernel(dictionary, &dictionary->frames.items[i]);
	loader->kernel_frames.count = dictionary->frames.count;
	return 0;
}

static bool is_kernel(const struct loader *loader, uint32_t node)
{
	return node != 0 &&
	       loader->kernel_frames.items[loader->dictionary->stacks.nodes.items[node].frame];
}

/*
 * The result for the node in its other role (leaf or caller), if it would be the same in this one;
 * else ID_NONE.
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

static bool is_interpreted(const struct dictionary *dictionary, const struct frame *frame)
{
	return frame->kind == FRAME_CUSTOM && frame->a < dictionary->places.count &&
	       dictionary->places.items[frame->a].origin == ORIGIN_INTERPRETED;
}

/*
 * The caller of a node. Python's -X perf makes a piece of code for each function, which starts the
 * interpreter's loop and is listed under the function's name. No other code without a file does:
 * where the call itself is known, this one is left out.
 */
static uint32_t find_caller(struct loader *loader, uint32_t node)
{
	const struct dictionary *dictionary = loader->dictionary;
	const struct stack_node *nodes = dictionary->stacks.nodes.items;
	uint32_t caller = nodes[node].parent;
	const struct frame *frame = &dictionary->frames.items[nodes[caller].frame];
	const struct module *module;

	if (caller == 0 || frame->kind != FRAME_NATIVE ||
	    !is_interpreted(dictionary, &dictionary->frames.items[nodes[node].frame]))
		return caller;
	module = frame_module(dictionary, frame);
	if (!module || module->kind != MODULE_ANONYMOUS)
		return caller;
	loader->one_to_one = false;
	return nodes[caller].parent;
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
	uint32_t caller = find_caller(loader, node);
	struct rebuilt *parent = &loader->rebuilt.items[caller];
	uint32_t *above = entry ? &parent->leaf : &parent->caller;
	uint32_t location;

	if (*above == ID_NONE) {
		int r = rebuild_node(loader, caller, entry, above);

		if (r < 0)
			return r;
	}
	if (!loader->options->kernel && is_kernel(loader, node)) {
		*ret = *above; /* its time goes to the function that entered the kernel */
		return 0;
	}
	location = loader_locate(loader, item.frame, as_leaf);
	if (location == ID_NONE)
		return -ENOMEM;
	if (loader->options->collapse_recursion) {
		int r = loader_collapse(loader, *above, &location);

		if (r <= 0) {
			*ret = *above;
			return r;
		}
	}
	*ret = find_twin(loader, node, *above, location);
	if (*ret == ID_NONE)
		*ret = loader->one_to_one
			       ? stack_tree_append(&loader->profile->stacks, *above, location)
			       : stack_tree_child(&loader->profile->stacks, *above, location);
	return *ret == ID_NONE ? -ENOMEM : 0;
}

/*
 * The stack in the profile for a node of the recording. Goes up to the nearest ancestor that is
 * done and then down again, without recursion, so stacks may be deep.
 */
static int rebuild(struct loader *loader, uint32_t node, bool exact, uint32_t *ret)
{
	const struct stack_node *nodes = loader->dictionary->stacks.nodes.items;
	struct rebuilt *own = &loader->rebuilt.items[node];
	uint32_t *role = exact ? &own->leaf : &own->caller;
	uint32_t at;
	size_t i;
	int r = 0;

	loader->path.count = 0;
	for (at = nodes[node].parent;
	     at != 0 && loader->rebuilt.items[at].caller == ID_NONE && r == 0;
	     at = nodes[at].parent)
		r = vec_push(&loader->path, at);
	for (i = loader->path.count; i-- > 0 && r == 0;)
		r = rebuild_node(loader, loader->path.items[i], false,
				 &loader->rebuilt.items[loader->path.items[i]].caller);
	if (r == 0 && *role == ID_NONE)
		r = rebuild_node(loader, node, exact, role);
	*ret = *role;
	return r;
}

bool loader_is_ready(struct loader *loader, uint32_t node, uint64_t deadline_ns)
{
	const struct dictionary *dictionary = loader->dictionary;

	for (; node != 0 && loader->rebuilt.items[node].caller == ID_NONE;
	     node = dictionary->stacks.nodes.items[node].parent) {
		uint32_t id = dictionary->stacks.nodes.items[node].frame;
		const struct frame *frame = &dictionary->frames.items[id];
		const struct module *module = frame_module(dictionary, frame);

		if (frame->kind == FRAME_NATIVE && module &&
		    !symboliser_is_ready(loader->symboliser, module, frame->a, deadline_ns))
			return false;
	}
	return true;
}

int loader_rebuild(struct loader *loader, uint32_t node, uint32_t *ret)
{
	return rebuild(loader, node, true, ret);
}

/*
 * Whether every node of the recording becomes a node of the profile with the same id: all frames
 * have their names in the recording, and no frame or sample is left out.
 */
static bool is_adoptable(const struct loader *loader)
{
	const struct recording_damage *damage = &loader->samples.damage;

	return loader->one_to_one && loader->samples.unwanted == 0 && damage->complete &&
	       damage->bad_chunks + damage->missing_chunks == 0 &&
	       frames_are_places(loader->dictionary);
}

/* Takes over all stacks at once if possible, instead of node by node with loader_rebuild(). */
static int adopt_stacks(struct loader *loader)
{
	const struct dictionary *dictionary = loader->dictionary;
	struct stack_tree *stacks = &loader->profile->stacks;
	uint32_t i;

	if (!is_adoptable(loader))
		return 0;
	for (i = 0; i < dictionary->frames.count; i++)
		if (loader_locate(loader, i, true) == ID_NONE)
			return -ENOMEM;
	if (!loader->one_to_one) /* two frames became one location */
		return 0;
	if (vec_reserve(&stacks->nodes, dictionary->stacks.nodes.count) < 0)
		return -ENOMEM;
	for (i = 1; i < dictionary->stacks.nodes.count; i++) {
		stacks->nodes.items[i] = dictionary->stacks.nodes.items[i];
		stacks->nodes.items[i].frame =
			loader->located.items[stacks->nodes.items[i].frame].exact;
	}
	stacks->nodes.count = i;
	loader->adopted = true;
	return 0;
}

/* Drops the cached locations of the frames of a stack. */
static void forget(struct loader *loader, uint32_t node)
{
	const struct stack_node *nodes = loader->dictionary->stacks.nodes.items;

	for (; node != 0; node = nodes[node].parent) {
		loader->rebuilt.items[node] = (struct rebuilt){ID_NONE, ID_NONE};
		loader->located.items[nodes[node].frame] = (struct located){ID_NONE, ID_NONE};
	}
}

/* JIT-compiled code may have changed between samples. */
int loader_rebuild_at(struct loader *loader, uint32_t node, bool exact, uint64_t time_ns,
		      uint32_t *ret)
{
	int timed = samples_is_timed(&loader->samples, node);
	int r;

	*ret = node;
	if (timed <= 0 && loader->adopted)
		return timed;
	if (timed <= 0)
		return timed < 0 ? timed : rebuild(loader, node, exact, ret);
	symboliser_set_time(loader->symboliser, time_ns);
	forget(loader, node);
	r = rebuild(loader, node, exact, ret);
	forget(loader, node);
	return r;
}

int loader_thread(struct loader *loader, uint32_t id, uint32_t *ret)
{
	const struct thread *thread = &loader->dictionary->threads.items[id];
	const struct process *process = &loader->dictionary->processes.items[thread->process];

	if (loader->threads.items[id] == ID_NONE)
		loader->threads.items[id] = profile_thread(
			loader->profile, process->pid, thread->tid, thread->comm, process->comm);
	*ret = loader->threads.items[id];
	return *ret == ID_NONE ? -ENOMEM : 0;
}

/* The labels of a set except the state, which entries keep separately. */
static int other_labels(struct loader *loader, uint32_t id, uint32_t *ret)
{
	uint32_t *known = id < loader->labels.count ? &loader->labels.items[id] : NULL;
	struct label labels[LABELS_MAX];
	struct bytes name = {0};
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
		if (kept > 0 && kept < LABELS_MAX && lock_name_find(loader, labels, kept, &name))
			labels[kept++] = (struct label){LOCK_NAME_LABEL, (const char *)name.data};
		*known = label_sets_add(&loader->profile->labels, &loader->profile->strings, labels,
					kept);
		bytes_fini(&name);
	}
	*ret = *known;
	return *ret == ID_NONE ? -ENOMEM : 0;
}

static int add_sum(struct loader *loader, size_t at, uint32_t stack)
{
	const struct sample_sum *sum = &loader->samples.sums.items[at];
	const char *state = thread_state_of(loader->dictionary, sum->labels);
	int64_t values[PROFILE_MAX_VALUES];
	struct profile_entry entry = {
		.stack = stack,
		.state = strings_add(&loader->profile->strings, state),
	};
	int r = entry.state == ID_NONE ? -ENOMEM
				       : loader_thread(loader, sum->thread, &entry.thread);

	loader_values(loader, at, values);
	if (r == 0)
		r = other_labels(loader, sum->labels, &entry.labels);
	if (r == 0)
		r = profile_add_entry(loader->profile, entry, values);
	if (r == 0)
		r = profile_add_state(loader->profile, state, values);
	if (r == 0 && loader->samples.longest_told)
		r = profile_note_longest(loader->profile, entry.labels, (int64_t)sum->longest);
	if (r == 0 && loader->options->slices && !loader->samples.events.complete)
		r = vec_push(&loader->profile->moments,
			     (struct profile_moment){sum->slice,
						     stack,
						     {(int64_t)sum->count, (int64_t)sum->weight},
						     entry.thread,
						     entry.state,
						     (int64_t)sum->going_on});
	return r;
}

static int add_sums(struct loader *loader, struct stack_filter *filter)
{
	struct load_quality quality = {.profile = loader->profile,
				       .gaps = loader->gaps.items,
				       .gap_count = loader->gaps.count,
				       .by_frame_pointers = loader->samples.by_frame_pointers};
	size_t i;

	for (i = 0; i < loader->samples.sums.count; i++) {
		const struct sample_sum *sum = &loader->samples.sums.items[i];
		uint32_t stack;
		int r = loader_rebuild_at(loader, sum->stack, true, sum->time_ns, &stack);

		if (r < 0)
			return r;
		if (!stack_filter_accepts(filter, loader->profile, stack))
			continue;
		quality.judged = loader->judged.items;
		quality.may_be_cut = loader->may_be_cut;
		load_quality_add(&quality, stack, sum->count);
		r = add_sum(loader, i, stack);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Finds a file that was kept while recording, or fetches it from elsewhere. */
static int fetch_file(void *self, const struct module *module, char *ret_path)
{
	const struct load_options *options = ((struct loader *)self)->options;
	const struct symbol_search *others = options->fetch;

	if (options->symbol_cache && kept_files_find(module, ret_path) == 0)
		return 0;
	return others && others->fetch ? others->fetch(others->fetch_self, module, ret_path)
				       : -ENOENT;
}

static uint32_t pid_of(void *self, uint32_t owner)
{
	const struct loader *loader = self;

	return owner < loader->dictionary->processes.count
		       ? loader->dictionary->processes.items[owner].pid
		       : 0;
}

int loader_open_symbols(struct loader *loader, struct error *err)
{
	enum symbol_detail asked = loader->options->symbols;
	struct symboliser_config config = {
		.demangle = loader->options->demangle,
		.merge_clones = true,
		.detail = asked == SYMBOLS_INLINES && !loader->options->inlines ? SYMBOLS_LINES
										: asked,
		.live = &loader->search,
		.symbol_paths = loader->options->symbol_paths,
		.symbol_path_count = loader->options->symbol_path_count,
		.sources = loader->options->sources,
		.pid_of = pid_of,
		.pid_self = loader,
	};

	if (loader->options->fetch)
		loader->search = *loader->options->fetch;
	loader->search.fetch = fetch_file;
	loader->search.fetch_self = loader;
	loader->search.no_files = loader->options->no_files;
	if (loader->options->symbol_cache) {
		/* Without its own directory nothing is cached. */
		(void)cache_dir_init(&loader->cache, NULL, "symbols", SYMBOL_STORE_SUFFIX,
				     SYMBOL_STORE_LIMIT_BYTES);
		config.cache = &loader->cache;
	}
	if (loader->options->symbol_cache && loader->options->tables_on_disk) {
		/* Without a directory they are in memory. */
		(void)cache_dir_init(&loader->tables, NULL, "tables", DISK_TABLE_SUFFIX,
				     DISK_TABLE_LIMIT_BYTES);
		loader->search.tables = &loader->tables;
	}
	return symboliser_new(&config, &loader->symboliser, err);
}

int loader_grow(struct loader *loader)
{
	const struct dictionary *dictionary = loader->dictionary;

	if (vec_reserve(&loader->located, dictionary->frames.count) < 0 ||
	    vec_reserve(&loader->threads, dictionary->threads.count) < 0 ||
	    vec_reserve(&loader->rebuilt, dictionary->stacks.nodes.count) < 0 ||
	    note_kernel_frames(loader) < 0)
		return -ENOMEM;
	while (loader->located.count < dictionary->frames.count)
		loader->located.items[loader->located.count++] = (struct located){ID_NONE, ID_NONE};
	while (loader->threads.count < dictionary->threads.count)
		loader->threads.items[loader->threads.count++] = ID_NONE;
	while (loader->rebuilt.count < dictionary->stacks.nodes.count)
		loader->rebuilt.items[loader->rebuilt.count++] = (struct rebuilt){ID_NONE, ID_NONE};
	loader->rebuilt.items[0] = (struct rebuilt){0, 0};
	return 0;
}

int loader_prepare(struct loader *loader, struct error *err)
{
	int r;

	loader->dictionary = recording_reader_dictionary(loader->samples.reader);
	if (vec_fill_ones(&loader->located, loader->dictionary->frames.count) < 0 ||
	    vec_fill_ones(&loader->threads, loader->dictionary->threads.count) < 0 ||
	    vec_fill_ones(&loader->labels, loader->dictionary->labels.sets.count) < 0 ||
	    note_kernel_frames(loader) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	/*
	 * Kernel time counts for its callers; JIT-compiled code has different names at different
	 * times.
	 */
	loader->one_to_one = loader->options->kernel && !loader->options->collapse_recursion &&
			     !jit_symbols_have_shared(loader->samples.jit);
	for (size_t i = 0; i <= loader->dictionary->modules.count; i++)
		if (vec_push(&loader->gaps, (struct profile_gap){0}) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	r = loader_open_symbols(loader, err);
	if (r < 0)
		return r;
	symboliser_set_kernel(loader->symboliser, loader->samples.kernel);
	symboliser_set_jit(loader->symboliser, loader->samples.jit);
	if (loader_make_profile(loader) < 0 || adopt_stacks(loader) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (loader->adopted)
		return 0;
	if (vec_fill_ones(&loader->rebuilt, loader->dictionary->stacks.nodes.count) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	loader->rebuilt.items[0] = (struct rebuilt){0, 0};
	return 0;
}

static const char *keep_text(struct profile *profile, const char *text)
{
	uint32_t id = strings_add(&profile->strings, text ? text : "");

	return id == ID_NONE ? "" : strings_get(&profile->strings, id);
}

/* If out of memory they are left out: the sums are more important. */
static void add_gauges(struct loader *loader)
{
	struct profile *profile = loader->profile;
	struct strings *strings = &profile->strings;
	size_t i;

	for (i = 0; i < loader->samples.gauges.items.count; i++) {
		const struct sample_gauge *from = &loader->samples.gauges.items.items[i];
		const struct sample_event *event = &loader->samples.events.items.items[from->event];
		const struct process *process = &loader->dictionary->processes.items[from->process];
		struct profile_gauge gauge = {.name = strings_add(strings, event->event),
					      .unit = strings_add(strings, event->unit),
					      .process_comm = strings_add(strings, process->comm),
					      .pid = process->pid,
					      .times = from->times,
					      .last = from->last,
					      .lowest = from->lowest,
					      .highest = from->highest,
					      .mean = from->sum / (double)from->times};

		if (gauge.name == ID_NONE || gauge.unit == ID_NONE ||
		    gauge.process_comm == ID_NONE || vec_push(&profile->gauges, gauge) < 0)
			return;
	}
}

/*
 * Reports label filters that match nothing, usually because of a misspelt name. Also reports that a
 * heap recording has no single samples.
 */
static void explain_nothing(struct loader *loader)
{
	struct bytes text = {0};

	if (loader->samples.sums.count > 0 || loader->heap_stacks)
		return;
	if (loader->samples.heap && loader->samples.damage.samples == 0)
		bytes_printf(&text, "the recording has allocations but no samples: wick report "
				    "--by site lists where memory was allocated");
	else if (loader->samples.damage.samples == 0 && !loader->samples.damage.complete)
		bytes_printf(&text, "no samples: the recording was cut off before the first one, "
				    "or has just started");
	label_filter_explain(&loader->samples.labels, loader->dictionary, &text);
	bytes_put_u8(&text, '\0');
	if (!text.failed && text.size > 1)
		loader->profile->why_empty = keep_text(loader->profile, (const char *)text.data);
	bytes_fini(&text);
}

/* Records who wrote the files that name the sources, now that all files have been opened. */
static void tell_writers(struct loader *loader)
{
	struct profile_sources *sources = &loader->profile->sources;

	sources->has_user = loader->samples.has_user;
	sources->user_uid = loader->samples.user_uid;
	for (size_t i = 0; i < sources->items.count; i++) {
		struct profile_source *source = &sources->items.items[i];
		struct symbol_writer writer;

		/* Scripts are named by the process. Only one's own recording says who that was. */
		if (source->is_script) {
			source->is_known = sources->is_own && sources->has_user;
			source->uid = sources->user_uid;
			continue;
		}
		writer = symboliser_module_writer(loader->symboliser, source->module);
		source->is_known = writer.is_known;
		source->uid = writer.uid;
	}
}

void loader_describe(struct loader *loader)
{
	const struct samples *samples = &loader->samples;
	const struct sample_event *main = sample_events_main(&samples->events);
	const struct load_options *options = loader->options;
	struct profile *profile = loader->profile;
	uint64_t duration_ns = samples->end_ns - samples->start_ns;
	uint64_t to_ns = options->to_ns < duration_ns ? options->to_ns : duration_ns;

	add_gauges(loader);
	tell_writers(loader);
	explain_nothing(loader);
	profile->title = keep_text(profile, samples->title);
	profile->slice_ns = samples->slice_ns;
	profile->duration_ns = to_ns > options->from_ns ? to_ns - options->from_ns : 0;
	/* The positions of gaps are unknown: the duration of a part includes them. */
	if (profile->duration_ns == duration_ns && samples->recorded_ns < duration_ns)
		profile->recorded_ns = samples->recorded_ns;
	/* The period of an event that is not time cannot be given in nanoseconds. */
	if (main && strcmp(main->unit, "nanoseconds") == 0)
		profile->period_ns = main->period;
	if (samples->clock_realtime_ns > 0)
		profile->start_realtime_ns = samples->clock_realtime_ns -
					     samples->clock_monotonic_ns + samples->start_ns +
					     options->from_ns;
	profile->quality.lost = samples->lost;
	profile->quality.in_file = samples->damage.samples + samples->damage.heap_events;
	profile->quality.unreadable = samples->damage.missing_samples;
	profile->quality.damaged_chunks = samples->damage.bad_chunks;
	profile->quality.incomplete = !samples->damage.complete;
}

/* Levels have no sum, so stacks cannot have a share of it. */
static int refuse_gauge(const struct samples *samples, struct error *err)
{
	const struct sample_event *main = sample_events_main(&samples->events);

	if (!main || main->kind != SCHEMA_GAUGE)
		return 0;
	(void)error_set(err, -EINVAL, "%s is a gauge: its levels cannot be summed", main->event);
	error_remedy(err, "wick timeline --event %s shows it over time", main->event);
	return -EINVAL;
}

/* Whether the recording is a file that belongs to the current user. Input from a pipe is not. */
static bool is_readers_file(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && owner_is_ours(status.st_uid);
}

/* From a descriptor, or from what was kept in memory instead. */
static int read_samples(struct loader *loader, int fd, struct recording_reader *kept,
			const char *name, struct error *err)
{
	int r;

	if (!kept)
		return samples_read(&loader->samples, fd, name, loader->options, NULL, err);
	r = samples_read_kept(&loader->samples, kept, name, loader->options, err);
	if (r == 0)
		load_tell_damage(loader->options, name, &loader->samples.damage);
	return r;
}

/*
 * From what was kept in memory, or else from a file. The other results for a heap are filled in if
 * the profile is one of the heap.
 */
static int load_from(int fd, struct recording_reader *kept, const char *name,
		     const struct load_options *options, struct heap_profile *ret,
		     struct error *err)
{
	struct loader loader = {.options = options, .cache = {.fd = -1}, .tables = {.fd = -1}};
	struct stack_filter filter;
	bool is_own = !kept && is_readers_file(fd);
	int r = stack_filter_init(&filter, options, err);

	if (r < 0) {
		recording_reader_free(kept);
		(void)close(fd); /* nothing was read yet */
		return r;
	}
	r = read_samples(&loader, fd, kept, name, err);
	if (r == 0)
		r = refuse_gauge(&loader.samples, err);
	if (r == 0)
		r = loader_prepare(&loader, err);
	if (r == 0) {
		r = samples_are_heap(&loader.samples) ? loader_add_heap(&loader, &filter)
						      : add_sums(&loader, &filter);
		if (r == 0 && options->order && !samples_are_heap(&loader.samples))
			r = loader_add_order(&loader, &filter);
		if (r == 0 && loader_has_heap_beside(&loader))
			r = loader_add_heap_beside(&loader, &filter);
		if (r == 0)
			r = loader_add_levels(&loader);
		if (r == 0)
			r = load_gaps(&(struct load_gaps_input){.symboliser = loader.symboliser,
								.dictionary = loader.dictionary,
								.symbols = options->symbols,
								.gaps = loader.gaps.items,
								.count = loader.gaps.count,
								.jit_refused =
									loader.samples.jit_refused},
				      loader.profile);
		if (r == 0)
			r = profile_facts_add(loader.profile, &loader.samples, options);
		if (r < 0)
			(void)error_errno(err, r, "cannot build the profile");
	}
	if (r == 0) {
		loader.profile->sources.is_own = is_own;
		loader_describe(&loader);
		ret->profile = scope_take(&loader.profile);
		if (samples_are_heap(&loader.samples)) {
			ret->analysis = scope_take(&loader.samples.heap);
			ret->stacks = scope_take(&loader.heap_stacks);
			ret->pool_stacks = scope_take(&loader.pool_stacks);
			ret->misuses = scope_take(&loader.heap_misuses);
			ret->threads = scope_take(&loader.threads.items);
			ret->leaks = loader.samples.leaks;
			loader.samples.leaks = (struct leak_scans){0};
		}
	}
	stack_filter_fini(&filter);
	loader_fini(&loader);
	return r;
}

int load_profile_fd(int fd, const char *name, const struct load_options *options,
		    struct profile **ret, struct error *err)
{
	struct heap_profile loaded = {0};
	int r = load_from(fd, NULL, name, options, &loaded, err);

	if (r == 0)
		*ret = scope_take(&loaded.profile);
	heap_profile_fini(&loaded);
	return r;
}

static int load_path(const char *path, const struct load_options *options, struct heap_profile *ret,
		     struct error *err)
{
	struct recording_reader *kept = NULL;
	int fd = load_open_or_keep(path, options->importers, &kept, err);

	if (fd < 0 && !kept)
		return fd;
	return load_from(fd, kept, strcmp(path, "-") ? path : "standard input", options, ret, err);
}

int load_profile(const char *path, const struct load_options *options, struct profile **ret,
		 struct error *err)
{
	struct heap_profile loaded = {0};
	int r = load_path(path, options, &loaded, err);

	if (r == 0)
		*ret = scope_take(&loaded.profile);
	heap_profile_fini(&loaded);
	return r;
}

int load_heap(const char *path, const struct load_options *options, struct heap_profile *ret,
	      struct error *err)
{
	struct load_options of_heap = *options;
	struct heap_profile loaded = {0};
	int r;

	of_heap.heap = true;
	r = load_path(path, &of_heap, &loaded, err);
	if (r == 0 && !loaded.analysis) {
		r = error_set(err, -EINVAL, "%s has no allocations", path);
		error_remedy(
			err,
			"wick heap -- COMMAND records them; wick info %s shows what this one has",
			path);
	}
	if (r == 0)
		*ret = loaded;
	else
		heap_profile_fini(&loaded);
	return r;
}
