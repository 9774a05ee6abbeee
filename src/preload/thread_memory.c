/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/thread_memory.h"

#include <stddef.h>

#include "preload/guarded_memory.h"
#include "preload/heap/exit_scan.h"

/* Maps a part, unless another thread does so first. */
static uint8_t *map_part(struct thread_memory *room, _Atomic(void *) *part, uint64_t bytes)
{
	void *there = NULL;
	void *mine = guarded_map(bytes, room->wiped);

	if (!mine)
		return NULL;
	if (!atomic_compare_exchange_strong(part, &there, mine)) {
		guarded_unmap(mine, bytes);
		return there;
	}
	exit_scan_note_own((uint64_t)(uintptr_t)mine, bytes);
	return mine;
}

void *thread_memory_get(struct thread_memory *room, uint32_t index)
{
	bool alone = index < THREAD_ROOM_ALONE;
	uint32_t behind = alone ? 0 : index - THREAD_ROOM_ALONE;
	_Atomic(void *) *part =
		&room->parts[alone ? index : THREAD_ROOM_ALONE + behind / THREAD_ROOM_TOGETHER];
	uint8_t *begin = atomic_load(part);

	if (!begin)
		begin = map_part(room, part, room->bytes * (alone ? 1 : THREAD_ROOM_TOGETHER));
	return begin ? begin + behind % THREAD_ROOM_TOGETHER * room->bytes : NULL;
}
