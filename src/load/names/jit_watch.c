/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/jit_watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "model/dictionary.h"
#include "proc/jit_file.h"
#include "symbol/jit/perf_map.h"

#define LOOK_NS (NS_PER_SEC / 4)
#define MAX_MAPS 64
/* Maximum number of marks per map; above that, every second one is dropped. */
#define MAX_MARKS 1024

struct watched_map {
	struct process process; /* its texts are not used */
	struct jit_process owner;
	char path[64];
	VEC(struct perf_map_mark) marks;
};

void jit_watch_fini(struct jit_watch *watch)
{
	for (size_t i = 0; i < watch->maps.count; i++) {
		vec_fini(&watch->maps.items[i]->marks);
		free(watch->maps.items[i]);
	}
	vec_fini(&watch->maps);
}

static struct watched_map *find(const struct jit_watch *watch, const struct process *process)
{
	for (size_t i = 0; i < watch->maps.count; i++) {
		const struct process *known = &watch->maps.items[i]->process;

		if (known->pid == process->pid && known->start_ns == process->start_ns &&
		    known->exec_count == process->exec_count)
			return watch->maps.items[i];
	}
	return NULL;
}

static void add(struct jit_watch *watch, const struct dictionary *dictionary, uint32_t process)
{
	const struct process *found = &dictionary->processes.items[process];
	struct watched_map *map;

	if (watch->maps.count == MAX_MAPS || find(watch, found))
		return;
	map = calloc(1, sizeof(*map));
	if (!map)
		return;
	map->process = *found;
	jit_process_read(&map->owner, (pid_t)found->pid, found->start_ns);
	(void)snprintf(map->path, sizeof(map->path), PERF_MAP_PATH, map->owner.inner_pid);
	if (vec_push(&watch->maps, map) < 0)
		free(map);
}

/* Adds processes with JIT-compiled code, from new modules. */
static void find_maps(struct jit_watch *watch, const struct dictionary *dictionary)
{
	for (; watch->modules < dictionary->modules.count; watch->modules++) {
		const struct module *module = &dictionary->modules.items[watch->modules];

		if (module->kind == MODULE_ANONYMOUS && module->owner < dictionary->processes.count)
			add(watch, dictionary, module->owner);
	}
}

static void look_at(struct watched_map *map, uint64_t now_ns)
{
	struct perf_map_mark mark = {.seen_ns = now_ns};
	struct perf_map_mark *last;

	if (jit_file_size(&map->owner, map->path, &mark.size) < 0)
		return;
	last = map->marks.count ? &map->marks.items[map->marks.count - 1] : NULL;
	if (last && mark.size < last->size) {
		map->marks.count = 0; /* it was rewritten */
	} else if (last && mark.size == last->size) {
		last->seen_ns = now_ns;
		return;
	}
	if (map->marks.count == MAX_MARKS) {
		for (size_t i = 0; i < MAX_MARKS / 2; i++)
			map->marks.items[i] = map->marks.items[2 * i + 1];
		map->marks.count = MAX_MARKS / 2;
	}
	(void)vec_push(&map->marks, mark); /* one mark less is slightly less exact */
}

void jit_watch_look(struct jit_watch *watch, const struct dictionary *dictionary, uint64_t now_ns)
{
	if (now_ns < watch->next_ns)
		return;
	watch->next_ns = now_ns + LOOK_NS;
	find_maps(watch, dictionary);
	for (size_t i = 0; i < watch->maps.count; i++)
		look_at(watch->maps.items[i], now_ns);
}

size_t jit_watch_marks(const struct jit_watch *watch, const struct process *process,
		       const struct perf_map_mark **ret)
{
	const struct watched_map *map = find(watch, process);

	*ret = map ? map->marks.items : NULL;
	return map ? map->marks.count : 0;
}
