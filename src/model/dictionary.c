/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/dictionary.h"

#include <errno.h>

#include <xxhash.h>

#include "base/hash_seed.h"

int dictionary_init(struct dictionary *dictionary)
{
	*dictionary = (struct dictionary){0};
	if (strings_init(&dictionary->strings) < 0 || stack_tree_init(&dictionary->stacks) < 0 ||
	    label_sets_init(&dictionary->labels) < 0) {
		dictionary_fini(dictionary);
		return -ENOMEM;
	}
	return 0;
}

void dictionary_fini(struct dictionary *dictionary)
{
	strings_fini(&dictionary->strings);
	stack_tree_fini(&dictionary->stacks);
	vec_fini(&dictionary->modules);
	vec_fini(&dictionary->processes);
	vec_fini(&dictionary->threads);
	vec_fini(&dictionary->places);
	vec_fini(&dictionary->frames);
	label_sets_fini(&dictionary->labels);
	id_index_fini(&dictionary->module_index);
	id_index_fini(&dictionary->process_index);
	id_index_fini(&dictionary->thread_index);
	id_index_fini(&dictionary->place_index);
	id_index_fini(&dictionary->frame_index);
	vec_fini(&dictionary->place_frames);
	vec_fini(&dictionary->last_frames);
	vec_fini(&dictionary->last_nodes);
}

/* The dictionary's own copy of a text; NULL counts as empty. Returns NULL without memory. */
static const char *intern(struct dictionary *dictionary, const char *text)
{
	uint32_t id = strings_add(&dictionary->strings, text ? text : "");

	return id == ID_NONE ? NULL : strings_get(&dictionary->strings, id);
}

/* Interned texts are equal if and only if their pointers are. */
static bool same_module(const struct module *a, const struct module *b)
{
	if (a->kind != b->kind || a->owner != b->owner ||
	    !build_id_equal(&a->build_id, &b->build_id))
		return false;
	if (a->build_id.size > 0)
		return true; /* the same image, under any name */
	return a->path == b->path && a->device == b->device && a->inode == b->inode &&
	       a->mtime_ns == b->mtime_ns && a->size_bytes == b->size_bytes;
}

static uint64_t hash_module(const struct module *module)
{
	if (module->build_id.size > 0)
		return XXH3_64bits_withSeed(module->build_id.bytes, module->build_id.size,
					    hash_seed.first);
	return hash_pair(hash_pair(module->inode, module->mtime_ns),
			 (uint64_t)(uintptr_t)module->path + module->owner);
}

uint32_t dictionary_module(struct dictionary *dictionary, const struct module *module)
{
	struct module key = *module;
	struct id_probe probe;
	uint64_t hash;
	uint32_t id;

	key.path = intern(dictionary, module->path);
	if (!key.path)
		return ID_NONE;
	hash = hash_module(&key);
	probe = id_index_probe(&dictionary->module_index, hash);
	while ((id = id_probe_next(&dictionary->module_index, &probe)) != ID_NONE)
		if (same_module(&dictionary->modules.items[id], &key))
			return id;
	id = (uint32_t)dictionary->modules.count;
	if (vec_reserve(&dictionary->modules, (size_t)id + 1) < 0 ||
	    id_index_add(&dictionary->module_index, hash, id) < 0)
		return ID_NONE;
	dictionary->modules.items[dictionary->modules.count++] = key;
	return id;
}

uint32_t dictionary_process(struct dictionary *dictionary, const struct process *process)
{
	struct process key = *process;
	uint64_t hash = hash_pair(hash_pair(key.pid, key.exec_count), key.start_ns);
	struct id_probe probe = id_index_probe(&dictionary->process_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&dictionary->process_index, &probe)) != ID_NONE) {
		const struct process *known = &dictionary->processes.items[id];

		if (known->pid == key.pid && known->start_ns == key.start_ns &&
		    known->exec_count == key.exec_count)
			return id;
	}
	key.comm = intern(dictionary, process->comm);
	key.executable = intern(dictionary, process->executable);
	if (!key.comm || !key.executable)
		return ID_NONE;
	id = (uint32_t)dictionary->processes.count;
	if (vec_reserve(&dictionary->processes, (size_t)id + 1) < 0 ||
	    id_index_add(&dictionary->process_index, hash, id) < 0)
		return ID_NONE;
	dictionary->processes.items[dictionary->processes.count++] = key;
	return id;
}

uint32_t dictionary_thread(struct dictionary *dictionary, const struct thread *thread)
{
	struct thread key = *thread;
	struct id_probe probe;
	uint64_t hash;
	uint32_t id;

	key.comm = intern(dictionary, thread->comm);
	if (!key.comm)
		return ID_NONE;
	hash = hash_pair(hash_pair(key.process, key.tid), (uintptr_t)key.comm);
	probe = id_index_probe(&dictionary->thread_index, hash);
	while ((id = id_probe_next(&dictionary->thread_index, &probe)) != ID_NONE) {
		const struct thread *known = &dictionary->threads.items[id];

		if (known->process == key.process && known->tid == key.tid &&
		    known->comm == key.comm)
			return id;
	}
	id = (uint32_t)dictionary->threads.count;
	if (vec_reserve(&dictionary->threads, (size_t)id + 1) < 0 ||
	    id_index_add(&dictionary->thread_index, hash, id) < 0)
		return ID_NONE;
	dictionary->threads.items[dictionary->threads.count++] = key;
	return id;
}

uint32_t dictionary_place(struct dictionary *dictionary, const struct place *place)
{
	struct place key = *place;

	key.name = intern(dictionary, place->name);
	key.file = intern(dictionary, place->file);
	return key.name && key.file ? dictionary_own_place(dictionary, &key) : ID_NONE;
}

uint32_t dictionary_own_place(struct dictionary *dictionary, const struct place *place)
{
	uint64_t hash =
		hash_pair(hash_pair((uintptr_t)place->name, (uintptr_t)place->file ^ place->origin),
			  hash_pair((uint64_t)place->line << 32 | place->module, place->outer));
	struct id_probe probe = id_index_probe(&dictionary->place_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&dictionary->place_index, &probe)) != ID_NONE) {
		const struct place *known = &dictionary->places.items[id];

		if (known->name == place->name && known->file == place->file &&
		    known->line == place->line && known->module == place->module &&
		    known->origin == place->origin && known->outer == place->outer)
			return id;
	}
	id = (uint32_t)dictionary->places.count;
	if (vec_reserve(&dictionary->places, (size_t)id + 1) < 0 ||
	    id_index_add(&dictionary->place_index, hash, id) < 0)
		return ID_NONE;
	dictionary->places.items[dictionary->places.count++] = *place;
	return id;
}

static uint64_t hash_frame(struct frame frame)
{
	return hash_pair((uint64_t)frame.kind << 32 | frame.a, frame.b);
}

/* A place mostly has one frame, which needs no search. */
static bool is_of_place(const struct dictionary *dictionary, const struct frame *frame)
{
	return frame->kind == FRAME_CUSTOM && frame->b == 0 && frame->a < dictionary->places.count;
}

static uint32_t frame_of_place(struct dictionary *dictionary, struct frame frame)
{
	uint32_t *known;

	while (dictionary->place_frames.count <= frame.a)
		if (vec_push(&dictionary->place_frames, ID_NONE) < 0)
			return ID_NONE;
	known = &dictionary->place_frames.items[frame.a];
	if (*known == ID_NONE && vec_push(&dictionary->frames, frame) == 0)
		*known = (uint32_t)dictionary->frames.count - 1;
	return *known;
}

static uint32_t find_frame(struct dictionary *dictionary, struct frame frame)
{
	uint64_t hash = hash_frame(frame);
	struct id_probe probe = id_index_probe(&dictionary->frame_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&dictionary->frame_index, &probe)) != ID_NONE) {
		struct frame known = dictionary->frames.items[id];

		if (known.kind == frame.kind && known.a == frame.a && known.b == frame.b)
			return id;
	}
	id = (uint32_t)dictionary->frames.count;
	if (vec_reserve(&dictionary->frames, (size_t)id + 1) < 0 ||
	    id_index_add(&dictionary->frame_index, hash, id) < 0)
		return ID_NONE;
	dictionary->frames.items[dictionary->frames.count++] = frame;
	return id;
}

uint32_t dictionary_frame(struct dictionary *dictionary, struct frame frame)
{
	return is_of_place(dictionary, &frame) ? frame_of_place(dictionary, frame)
					       : find_frame(dictionary, frame);
}

static bool frame_equal(const struct frame *a, const struct frame *b)
{
	return a->kind == b->kind && a->a == b->a && a->b == b->b;
}

/* Prefetches the memory that dictionary_frame() will need, for all frames at once. */
static void prefetch_frames(const struct dictionary *dictionary, const struct frame *frames,
			    size_t from, size_t n)
{
	size_t i;

	for (i = from; i < n; i++)
		if (!is_of_place(dictionary, &frames[i]))
			id_index_prefetch(&dictionary->frame_index, hash_frame(frames[i]));
	for (i = from; i < n; i++) {
		struct id_probe probe =
			id_index_probe(&dictionary->frame_index, hash_frame(frames[i]));
		uint32_t id = is_of_place(dictionary, &frames[i])
				      ? ID_NONE
				      : id_probe_next(&dictionary->frame_index, &probe);

		if (id != ID_NONE)
			__builtin_prefetch(&dictionary->frames.items[id]);
	}
}

/* Consecutive stacks mostly have the same callers: those need no lookup. */
uint32_t dictionary_stack(struct dictionary *dictionary, const struct frame *frames, size_t n)
{
	size_t known = dictionary->last_nodes.count;
	size_t same = 0;
	uint32_t node;

	if (vec_reserve(&dictionary->last_frames, n) < 0 ||
	    vec_reserve(&dictionary->last_nodes, n) < 0)
		return ID_NONE;
	while (same < n && same < known &&
	       frame_equal(&frames[same], &dictionary->last_frames.items[same]))
		same++;
	node = same > 0 ? dictionary->last_nodes.items[same - 1] : 0;
	prefetch_frames(dictionary, frames, same, n);
	/* The rest of the last stack is kept if the new one ends inside it. */
	for (; same < n; same++) {
		uint32_t frame = dictionary_frame(dictionary, frames[same]);

		dictionary->last_nodes.count = dictionary->last_frames.count = same;
		if (frame == ID_NONE)
			return ID_NONE;
		node = stack_tree_child(&dictionary->stacks, node, frame);
		if (node == ID_NONE)
			return ID_NONE;
		dictionary->last_frames.items[same] = frames[same];
		dictionary->last_nodes.items[same] = node;
		dictionary->last_nodes.count = dictionary->last_frames.count = same + 1;
	}
	return node;
}

static bool is_named_at_the_end(const struct dictionary *dictionary, const struct frame *frame)
{
	if (frame->kind == FRAME_NATIVE && frame->a < dictionary->modules.count)
		return dictionary->modules.items[frame->a].kind == MODULE_ANONYMOUS;
	return frame->kind == FRAME_KERNEL;
}

int dictionary_forget_stacks(struct dictionary *dictionary, bool keep_named)
{
	size_t count = keep_named ? dictionary->frames.count : 0;

	stack_tree_fini(&dictionary->stacks);
	id_index_fini(&dictionary->frame_index);
	dictionary->place_frames.count = 0;
	dictionary->frames.count = 0;
	dictionary->last_frames.count = 0;
	dictionary->last_nodes.count = 0;
	if (stack_tree_init(&dictionary->stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct frame frame = dictionary->frames.items[i];

		/* It is written over itself or an earlier one. */
		if (is_named_at_the_end(dictionary, &frame) &&
		    dictionary_frame(dictionary, frame) == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

uint32_t dictionary_labels(struct dictionary *dictionary, const struct label *labels, size_t n)
{
	return label_sets_add(&dictionary->labels, &dictionary->strings, labels, n);
}
