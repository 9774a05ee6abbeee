/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "live/live_jit.h"
#include "load/filter/thread_state.h"
#include "load/load.h"
#include "load/loader.h"
#include "model/dictionary.h"
#include "model/dictionary_sink.h"
#include "model/sink.h"
#include "symbol/kernel_symbols.h"
#include "symbol/symboliser.h"
#include "symbol/table_builder.h"

#define SLICES (LIVE_WINDOW_MAX_S + 1) /* the current slice, and the full ones before it */
#define MAX_NODES (1u << 18)
#define MAX_SUMS (1u << 16) /* total number, above which the smaller half is dropped */

/* What is known of a process, with by_process. */
enum met { MET_NOT, MET_WITH_STACKS, MET_WITHOUT };

struct live_sum {
	uint32_t stack;
	uint32_t thread; /* with by_process: the process */
	uint64_t count;
	uint64_t weight;
};

struct sums {
	VEC(struct live_sum) items;
	struct id_index index;
};

struct slice {
	uint64_t number; /* since the origin */
	struct sums sums;
	size_t named;  /* how many of the sums have names; with by_process */
	uint64_t lost; /* number of samples, as the engine reported */
};

struct live_profile {
	struct dictionary dictionary; /* first: see dictionary_sink.h */
	struct sink sink;
	struct loader loader; /* symbolises the entries of the dictionary */
	struct profile *shown;
	const char *kallsyms;
	struct kernel_symbols *kernel;
	struct live_jit jit;
	char *title;
	char value[32];
	char unit[32];
	uint32_t schemas;
	uint32_t schema; /* the sampled one; ID_NONE: none yet */
	uint64_t period;
	uint64_t start_ns;
	uint64_t slice_ns;
	uint64_t origin_ns;
	bool by_process;
	uint64_t dropped_ns; /* slices before this have been dropped */
	VEC(uint8_t) met;    /* by process: enum met */
	uint32_t depth;
	VEC(struct frame) cut; /* a stack without its outer frames */
	bool (*meet)(void *self, const struct dictionary *dictionary, uint32_t process);
	void *self;
	enum sample_cover_side side; /* of samples that cover a time range */
	size_t max_nodes;
	size_t node_limit; /* limit at which stacks are dropped; above max_nodes if all were needed
			    */
	struct slice slices[SLICES];
	struct sums all;
	struct live_forgotten forgotten;
	uint64_t lost;        /* of all */
	uint64_t builders_ns; /* of symbolisers that are gone */
};

_Static_assert(offsetof(struct live_profile, dictionary) == 0, "the dictionary must come first");

static void sums_clear(struct sums *sums)
{
	sums->items.count = 0;
	id_index_clear(&sums->index);
}

static void sums_fini(struct sums *sums)
{
	vec_fini(&sums->items);
	id_index_fini(&sums->index);
}

static int sums_add(struct sums *sums, const struct live_sum *sum)
{
	uint64_t hash = hash_pair(sum->stack, sum->thread);
	struct id_probe probe = id_index_probe(&sums->index, hash);
	uint32_t at;

	while ((at = id_probe_next(&sums->index, &probe)) != ID_NONE) {
		struct live_sum *item = &sums->items.items[at];

		if (item->stack == sum->stack && item->thread == sum->thread) {
			item->count += sum->count;
			item->weight += sum->weight;
			return 0;
		}
	}
	if (vec_reserve(&sums->items, sums->items.count + 1) < 0 ||
	    id_index_add(&sums->index, hash, (uint32_t)sums->items.count) < 0)
		return -ENOMEM;
	sums->items.items[sums->items.count++] = *sum;
	return 0;
}

static uint64_t slice_number(const struct live_profile *live, uint64_t time_ns)
{
	return time_ns > live->origin_ns ? (time_ns - live->origin_ns) / live->slice_ns : 0;
}

static uint64_t slice_begin_ns(const struct live_profile *live, uint64_t number)
{
	return live->origin_ns + number * live->slice_ns;
}

/* The slice of a number; NULL if it is older than those that are kept. */
static struct slice *slice_of(struct live_profile *live, uint64_t number)
{
	struct slice *slice = &live->slices[number % SLICES];

	if (slice->number > number)
		return NULL;
	if (slice->number < number) {
		slice->number = number;
		slice->lost = 0;
		slice->named = 0;
		sums_clear(&slice->sums);
	}
	return slice;
}

/* Samples are shown; events reported by programs are not. */
static int take_schema(void *self, const struct schema *schema, uint32_t *ret_id)
{
	struct live_profile *live = self;

	*ret_id = live->schemas++;
	if (live->schema != ID_NONE || schema->kind != SCHEMA_SAMPLED)
		return 0;
	live->schema = *ret_id;
	live->period = schema->period;
	(void)snprintf(live->value, sizeof(live->value), "%s", schema->value);
	(void)snprintf(live->unit, sizeof(live->unit), "%s", schema->unit);
	return 0;
}

/* Frames are relative to modules: mappings do not matter here. */
static int take_map(void *self, const struct map_event *event, struct error *err)
{
	(void)self;
	(void)event;
	(void)err;
	return 0;
}

/* The time that a sample covers. */
static struct sample_cover cover_of(const struct live_profile *live,
				    const struct sample_batch *batch, size_t i)
{
	uint32_t labels = batch->labels ? batch->labels[i] : 0;
	struct sample_cover cover =
		sample_cover_of(batch->time_ns[i], batch->weight[i], live->side);

	/* Fast path for most samples: those within one slice. */
	if (slice_number(live, cover.begin_ns) == slice_number(live, cover.end_ns))
		return cover;
	/*
	 * In wall-clock mode each sample covers the time since the previous one; in others only
	 * absences do.
	 */
	if (live->side == SAMPLE_COVERS_BEFORE && strcmp(live->value, "wall") == 0)
		return cover;
	if (profile_state_is_away(thread_state_of(&live->dictionary, labels)))
		return cover;
	return sample_cover_of(batch->time_ns[i], batch->weight[i], SAMPLE_COVERS_NOTHING);
}

/* Each slice gets its part of the weight; the sample is counted in the slice where it ends. */
static int add_to_slices(struct live_profile *live, struct live_sum sum,
			 const struct sample_cover *cover)
{
	uint64_t count = sum.count;
	uint64_t last = slice_number(live, cover->end_ns);
	uint64_t number = slice_number(live, cover->begin_ns);
	int r = 0;

	if (last - number >= SLICES)
		number = last - SLICES + 1;
	for (; number <= last && r == 0; number++) {
		struct slice *slice = slice_of(live, number);

		sum.count = number == last ? count : 0;
		sum.weight = sample_cover_within(cover, slice_begin_ns(live, number),
						 slice_begin_ns(live, number + 1));
		if (slice)
			r = sums_add(&slice->sums, &sum);
	}
	return r;
}

/* Remembers that a process was sampled. Returns whether its stacks are kept, or -ENOMEM. */
static int meet_process(struct live_profile *live, uint32_t process)
{
	while (live->met.count <= process)
		if (vec_push(&live->met, MET_NOT) < 0)
			return -ENOMEM;
	if (live->met.items[process] == MET_NOT)
		live->met.items[process] =
			!live->meet || live->meet(live->self, &live->dictionary, process)
				? MET_WITH_STACKS
				: MET_WITHOUT;
	return live->met.items[process] == MET_WITH_STACKS;
}

/* With by_process: a sample that is late for its slice counts in the next one. */
static int add_by_process(struct live_profile *live, const struct sample_batch *batch, size_t i)
{
	uint64_t time_ns =
		batch->time_ns[i] > live->dropped_ns ? batch->time_ns[i] : live->dropped_ns;
	struct slice *slice = slice_of(live, slice_number(live, time_ns));
	struct live_sum sum = {
		.stack = batch->stack[i],
		.thread = live->dictionary.threads.items[batch->thread[i]].process,
		.count = batch->times && batch->times[i] > 0 ? batch->times[i] : 1,
		.weight = batch->weight[i],
	};
	int r = meet_process(live, sum.thread);

	if (r == 0)
		sum.stack = 0;
	if (r >= 0)
		r = slice ? sums_add(&slice->sums, &sum) : 0;
	return r;
}

static int take_batch(void *self, const struct sample_batch *batch, struct error *err)
{
	struct live_profile *live = self;
	int r = 0;

	if (batch->schema != live->schema)
		return 0;
	for (size_t i = 0; i < batch->count && r == 0 && live->by_process; i++)
		r = add_by_process(live, batch, i);
	if (live->by_process)
		return r < 0 ? error_set(err, r, "out of memory") : 0;
	for (size_t i = 0; i < batch->count && r == 0; i++) {
		struct sample_cover cover = cover_of(live, batch, i);
		struct live_sum sum = {
			.stack = batch->stack[i],
			.thread = batch->thread[i],
			.count = batch->times && batch->times[i] > 0 ? batch->times[i] : 1,
		};

		if (!sample_cover_meets(&cover, live->start_ns, UINT64_MAX))
			continue; /* from before a restart */
		cover = sample_cover_cut(&cover, live->start_ns, UINT64_MAX);
		sum.weight = cover.weight;
		r = sums_add(&live->all, &sum);
		if (r == 0)
			r = add_to_slices(live, sum, &cover);
	}
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct live_profile *live = self;
	struct slice *slice = slice_of(
		live, slice_number(live, time_ns > live->dropped_ns ? time_ns : live->dropped_ns));

	(void)reason;
	if (time_ns < live->start_ns)
		return 0; /* from before a restart */
	live->lost += samples;
	if (slice)
		slice->lost += samples;
	return 0;
}

static int heavier(const void *a, const void *b)
{
	const struct live_sum *x = a;
	const struct live_sum *y = b;

	return (x->weight < y->weight) - (x->weight > y->weight);
}

/* Drops the lighter half of the total, and remembers its weight. */
static void forget_light_ones(struct live_profile *live)
{
	struct sums *all = &live->all;
	size_t keep = all->items.count / 2;

	if (all->items.count > 0)
		qsort(all->items.items, all->items.count, sizeof(*all->items.items), heavier);
	for (size_t i = keep; i < all->items.count; i++) {
		live->forgotten.samples += all->items.items[i].count;
		live->forgotten.weight += all->items.items[i].weight;
	}
	all->items.count = keep;
}

/* Marks the nodes of the needed stacks, then assigns their new ids. */
struct moved {
	uint32_t *ids;            /* by old node: 0 not needed, else needed, then the new id */
	VEC(struct frame) frames; /* of the needed ones, in order */
};

static void mark(struct moved *moved, const struct stack_node *nodes, const struct sums *sums)
{
	for (size_t i = 0; i < sums->items.count; i++)
		for (uint32_t at = sums->items.items[i].stack; at != 0 && moved->ids[at] == 0;
		     at = nodes[at].parent)
			moved->ids[at] = 1;
}

static int renumber(const struct moved *moved, struct sums *sums)
{
	id_index_clear(&sums->index);
	for (size_t i = 0; i < sums->items.count; i++) {
		struct live_sum *item = &sums->items.items[i];

		item->stack = item->stack ? moved->ids[item->stack] : 0;
		if (id_index_add(&sums->index, hash_pair(item->stack, item->thread), (uint32_t)i) <
		    0)
			return -ENOMEM;
	}
	return 0;
}

/* Puts the needed nodes into the tree, which is now empty. A parent comes before its children. */
static int put_back(struct live_profile *live, struct moved *moved, const struct stack_node *nodes,
		    size_t count)
{
	size_t taken = 0;

	for (size_t i = 1; i < count; i++) {
		uint32_t frame;

		if (moved->ids[i] == 0)
			continue;
		frame = dictionary_frame(&live->dictionary, moved->frames.items[taken++]);
		moved->ids[i] = frame == ID_NONE
					? ID_NONE
					: stack_tree_child(&live->dictionary.stacks,
							   moved->ids[nodes[i].parent], frame);
		if (moved->ids[i] == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int make_profile(struct live_profile *live)
{
	const struct value_type types[] = {{"samples", "count"}, {live->value, live->unit}};
	struct loader *loader = &live->loader;
	int r = profile_new(types, ARRAY_SIZE(types), &loader->profile);

	if (r < 0)
		return r;
	loader->profile->main_value = 1;
	loader->profile->title = live->title;
	return 0;
}

/* The remaining stacks are symbolised again; a caller that still uses the old profile keeps it. */
static int forget_names(struct live_profile *live)
{
	struct loader *loader = &live->loader;

	if (loader->profile != live->shown)
		profile_free(loader->profile);
	loader->profile = NULL;
	loader->located.count = loader->rebuilt.count = loader->threads.count = 0;
	loader->kernel_frames.count = loader->judged.count = 0;
	function_files_fini(&loader->homes);
	loader->homes = (struct function_files){0};
	live_jit_forget(&live->jit);
	return make_profile(live);
}

static int forget_stacks(struct live_profile *live, struct moved *moved,
			 const struct stack_node *nodes, size_t count)
{
	const struct dictionary *dictionary = &live->dictionary;
	int r = 0;

	mark(moved, nodes, &live->all);
	for (size_t i = 0; i < SLICES; i++)
		mark(moved, nodes, &live->slices[i].sums);
	for (size_t i = 1; i < count && r == 0; i++)
		if (moved->ids[i])
			r = vec_push(&moved->frames, dictionary->frames.items[nodes[i].frame]);
	if (r == 0)
		r = dictionary_forget_stacks(&live->dictionary, false);
	if (r == 0)
		r = put_back(live, moved, nodes, count);
	if (r == 0)
		r = renumber(moved, &live->all);
	for (size_t i = 0; i < SLICES && r == 0; i++) {
		r = renumber(moved, &live->slices[i].sums);
		live->slices[i].named = 0;
	}
	return r < 0 ? r : forget_names(live);
}

static int take_trim(void *self, struct error *err)
{
	struct live_profile *live = self;
	size_t count = live->dictionary.stacks.nodes.count;
	struct stack_node *nodes = NULL;
	struct moved moved = {0};
	int r = -ENOMEM;

	if (count < live->node_limit && live->all.items.count < MAX_SUMS)
		return 0;
	forget_light_ones(live);
	moved.ids = calloc(count, sizeof(*moved.ids));
	nodes = calloc(count, sizeof(*nodes));
	if (moved.ids && nodes) {
		memcpy(nodes, live->dictionary.stacks.nodes.items, count * sizeof(*nodes));
		r = forget_stacks(live, &moved, nodes, count);
	}
	/*
	 * The stacks of the window stay, however many: raise the limit so that this is not retried
	 * at every turn.
	 */
	live->node_limit = 2 * live->dictionary.stacks.nodes.count;
	if (live->node_limit < live->max_nodes)
		live->node_limit = live->max_nodes;
	free(moved.ids);
	free(nodes);
	vec_fini(&moved.frames);
	return r < 0 ? error_set(err, r, "out of memory") : 1;
}

static int take_stack(void *self, const struct frame *frames, size_t n, uint32_t *ret_id)
{
	struct live_profile *live = self;

	if (live->depth == 0 || n <= live->depth)
		return dictionary_sink_stack(self, frames, n, ret_id);
	live->cut.count = 0;
	if (vec_reserve(&live->cut, (size_t)live->depth + 1) < 0)
		return -ENOMEM;
	live->cut.items[live->cut.count++] = (struct frame){.kind = FRAME_TRUNCATED};
	memcpy(live->cut.items + 1, frames + n - live->depth, live->depth * sizeof(*frames));
	live->cut.count += live->depth;
	return dictionary_sink_stack(self, live->cut.items, live->cut.count, ret_id);
}

static const struct sink_ops live_ops = {
	.schema = take_schema,
	.module = dictionary_sink_module,
	.process = dictionary_sink_process,
	.thread = dictionary_sink_thread,
	.place = dictionary_sink_place,
	.stack = take_stack,
	.labels = dictionary_sink_labels,
	.map = take_map,
	.batch = take_batch,
	.loss = take_loss,
	.trim = take_trim,
};

static void scope_release_live_profile(struct live_profile **live)
{
	live_profile_free(*live);
}

int live_profile_new(const struct live_profile_config *config, struct live_profile **ret,
		     struct error *err)
{
	SCOPED(live_profile) struct live_profile *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return error_set(err, -ENOMEM, "out of memory");
	live->loader.cache.fd = live->loader.tables.fd = -1;
	live->title = strdup(config->title);
	if (!live->title || dictionary_init(&live->dictionary) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	live->loader.options = config->options;
	live->loader.dictionary = &live->dictionary;
	live->schema = ID_NONE;
	live->start_ns = config->start_ns;
	live->slice_ns = config->slice_ns > 0 ? config->slice_ns : NS_PER_SEC;
	live->origin_ns = config->by_process ? config->start_ns : 0;
	live->by_process = config->by_process;
	live->depth = config->depth;
	live->meet = config->meet;
	live->self = config->self;
	live->kallsyms = config->kallsyms;
	live->max_nodes = live->node_limit = config->max_nodes ? config->max_nodes : MAX_NODES;
	live->sink = (struct sink){&live_ops, live};
	r = loader_open_symbols(&live->loader, err);
	if (r < 0)
		return r;
	*ret = scope_take(&live);
	return 0;
}

void live_profile_free(struct live_profile *live)
{
	if (!live)
		return;
	if (live->shown != live->loader.profile)
		profile_free(live->shown);
	loader_fini(&live->loader);
	kernel_symbols_free(live->kernel);
	live_jit_fini(&live->jit);
	dictionary_fini(&live->dictionary);
	for (size_t i = 0; i < SLICES; i++)
		sums_fini(&live->slices[i].sums);
	sums_fini(&live->all);
	vec_fini(&live->met);
	vec_fini(&live->cut);
	free(live->title);
	free(live);
}

struct sink *live_profile_sink(struct live_profile *live)
{
	return &live->sink;
}

void live_profile_set_cover(struct live_profile *live, enum sample_cover_side side)
{
	live->side = side;
}

/* They are read when the first kernel frame appears, because it takes a while. */
static void read_kernel(struct live_profile *live)
{
	const struct loader *loader = &live->loader;

	if (!live->kallsyms)
		return;
	for (size_t i = 0; i < loader->kernel_frames.count; i++) {
		if (!loader->kernel_frames.items[i])
			continue;
		/* Without them addresses are shown. */
		(void)kernel_symbols_read(live->kallsyms, &live->kernel, NULL);
		symboliser_set_kernel(loader->symboliser, live->kernel);
		live->kallsyms = NULL;
		return;
	}
}

/*
 * Names of JIT-compiled code arrive after its samples: frames without a name are looked up again.
 */
static void read_jit(struct live_profile *live, uint64_t now_ns)
{
	struct loader *loader = &live->loader;

	if (!live_jit_look(&live->jit, loader->dictionary, now_ns))
		return;
	symboliser_set_jit(loader->symboliser, live->jit.symbols);
	for (size_t i = 0; i < loader->located.count; i++)
		if (live_jit_is_compiled(loader->dictionary, (uint32_t)i))
			loader->located.items[i] = (struct located){ID_NONE, ID_NONE};
	for (size_t i = 1; i < loader->rebuilt.count; i++)
		loader->rebuilt.items[i] = (struct rebuilt){ID_NONE, ID_NONE};
}

static int add_sums(struct live_profile *live, const struct sums *sums)
{
	struct loader *loader = &live->loader;
	struct profile_gap everywhere = {0}; /* modules without names are not reported */
	struct load_quality quality = {
		.profile = loader->profile, .gaps = &everywhere, .gap_count = 1};

	for (size_t i = 0; i < sums->items.count; i++) {
		const struct live_sum *sum = &sums->items.items[i];
		int64_t values[2] = {(int64_t)sum->count, (int64_t)sum->weight};
		uint32_t stack;
		uint32_t thread;

		if (loader_rebuild(loader, sum->stack, &stack) < 0 ||
		    loader_thread(loader, sum->thread, &thread) < 0 ||
		    profile_add(loader->profile, stack, thread, values) < 0)
			return -ENOMEM;
		quality.judged = loader->judged.items;
		quality.may_be_cut = loader->may_be_cut;
		load_quality_add(&quality, stack, sum->count);
	}
	return 0;
}

static int add_window(struct live_profile *live, uint64_t now_ns, uint32_t window_s)
{
	uint64_t last = slice_number(live, now_ns);
	uint64_t first = last >= window_s ? last - window_s + 1 : 0;
	uint64_t begin_ns = slice_begin_ns(live, first);
	int r = 0;

	for (uint64_t number = first; number <= last && r == 0; number++) {
		const struct slice *slice = &live->slices[number % SLICES];

		if (slice->number != number)
			continue;
		live->loader.profile->quality.lost += slice->lost;
		r = add_sums(live, &slice->sums);
	}
	if (begin_ns < live->start_ns)
		begin_ns = live->start_ns;
	live->loader.profile->duration_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
	return r;
}

/* Makes room for the names of what is new in the dictionary. */
static int prepare_names(struct live_profile *live, uint64_t now_ns)
{
	struct loader *loader = &live->loader;
	int r = loader->profile ? 0 : make_profile(live);

	if (r == 0)
		r = loader_grow(loader);
	if (r < 0)
		return r;
	read_kernel(live);
	read_jit(live, now_ns);
	symboliser_set_time(loader->symboliser, now_ns);
	return 0;
}

int live_profile_refresh(struct live_profile *live, uint64_t now_ns, uint32_t window_s,
			 const struct profile **ret)
{
	struct loader *loader = &live->loader;
	int r = prepare_names(live, now_ns);

	if (r < 0)
		return r;
	if (live->shown != loader->profile)
		profile_free(live->shown);
	live->shown = loader->profile;
	profile_clear_entries(loader->profile);
	loader->profile->period_ns = strcmp(live->unit, "nanoseconds") == 0 ? live->period : 0;
	if (window_s > 0) {
		r = add_window(live, now_ns,
			       window_s < LIVE_WINDOW_MAX_S ? window_s : LIVE_WINDOW_MAX_S);
	} else {
		r = add_sums(live, &live->all);
		loader->profile->quality.lost = live->lost;
		loader->profile->duration_ns =
			now_ns > live->start_ns ? now_ns - live->start_ns : 0;
	}
	*ret = live->shown;
	return r;
}

void live_profile_restart(struct live_profile *live, uint64_t now_ns)
{
	live->start_ns = now_ns;
	live->forgotten = (struct live_forgotten){0};
	live->lost = 0;
	sums_clear(&live->all);
	for (size_t i = 0; i < SLICES; i++) {
		live->slices[i].lost = 0;
		sums_clear(&live->slices[i].sums);
	}
}

struct live_forgotten live_profile_forgotten(const struct live_profile *live)
{
	return live->forgotten;
}

const struct dictionary *live_profile_dictionary(const struct live_profile *live)
{
	return &live->dictionary;
}

int live_profile_name(struct live_profile *live, uint64_t now_ns, uint64_t limit_ns)
{
	int r = prepare_names(live, now_ns);

	for (size_t i = 0; i < SLICES && r == 0; i++) {
		struct slice *slice = &live->slices[i];

		while (r == 0 && slice->named < slice->sums.items.count) {
			uint32_t node = slice->sums.items.items[slice->named].stack;
			uint32_t stack;

			if (clock_monotonic_ns() - now_ns >= limit_ns ||
			    !loader_is_ready(&live->loader, node, 0))
				return 0;
			slice->named++;
			r = loader_rebuild(&live->loader, node, &stack);
		}
	}
	return r < 0 ? r : 1;
}

void live_profile_hurry(struct live_profile *live, bool hurried)
{
	table_builder_hurry(symboliser_builder(live->loader.symboliser), hurried);
}

uint64_t live_profile_builders_ns(const struct live_profile *live)
{
	struct symboliser *symboliser = live->loader.symboliser;

	return live->builders_ns + (symboliser ? symboliser_builder(symboliser)->cpu_ns : 0);
}

int live_profile_tidy(struct live_profile *live, struct error *err)
{
	struct loader *loader = &live->loader;
	int r;

	live->builders_ns = live_profile_builders_ns(live);
	symboliser_free(loader->symboliser);
	loader->symboliser = NULL;
	cache_dir_fini(&loader->cache);
	cache_dir_fini(&loader->tables);
	r = loader_open_symbols(loader, err);
	if (r < 0)
		return r;
	symboliser_set_kernel(loader->symboliser, live->kernel);
	symboliser_set_jit(loader->symboliser, live->jit.symbols);
	return 0;
}

int live_profile_stack(struct live_profile *live, uint32_t stack, uint64_t deadline_ns,
		       const struct profile **ret, uint32_t *ret_stack)
{
	*ret = live->loader.profile;
	if (!loader_is_ready(&live->loader, stack, deadline_ns))
		return -EAGAIN;
	return loader_rebuild(&live->loader, stack, ret_stack);
}

int live_profile_visit(struct live_profile *live, uint64_t time_ns, live_row_fn *visit, void *self)
{
	uint64_t number = slice_number(live, time_ns);
	const struct slice *slice = &live->slices[number % SLICES];
	int r = 0;

	for (size_t i = 0; slice->number == number && i < slice->sums.items.count && r == 0; i++) {
		const struct live_sum *sum = &slice->sums.items.items[i];

		r = visit(self, &(struct live_row){.stack = sum->stack,
						   .process = sum->thread,
						   .samples = sum->count,
						   .weight = sum->weight});
	}
	return r;
}

uint64_t live_profile_lost(const struct live_profile *live, uint64_t time_ns)
{
	uint64_t number = slice_number(live, time_ns);
	const struct slice *slice = &live->slices[number % SLICES];

	return slice->number == number ? slice->lost : 0;
}

void live_profile_drop(struct live_profile *live, uint64_t before_ns)
{
	uint64_t number = slice_number(live, before_ns);

	live->dropped_ns = before_ns;
	for (size_t i = 0; i < SLICES; i++) {
		if (live->slices[i].number >= number)
			continue;
		sums_fini(&live->slices[i].sums);
		live->slices[i] = (struct slice){.number = live->slices[i].number};
	}
}

void live_profile_set_slice(struct live_profile *live, uint64_t begin_ns, uint64_t slice_ns)
{
	size_t at = slice_number(live, begin_ns) % SLICES;
	struct slice open = live->slices[at];

	live->slices[at] = live->slices[0]; /* empty, like all others */
	live->slices[0] = open;
	for (size_t i = 0; i < SLICES; i++)
		live->slices[i].number = 0;
	live->origin_ns = begin_ns;
	live->slice_ns = slice_ns;
}
