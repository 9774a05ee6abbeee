/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/hooks.h"

#include <stdbool.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/signal/session_notes.h"

_Static_assert(SESSION_HOOKS == ENGINE_HOOKS && SESSION_HOOK_CODE == ENTRY_CODE_BYTES,
	       "both sides have as many");

/* Functions that cannot be hooked are not requested: their slot stays empty. */
void hooks_ask(const struct hooks *hooks, struct session_control *control)
{
	for (size_t i = 0; i < hooks->count; i++) {
		const struct engine_hook *hook = &hooks->items[i];
		struct session_hook *to = &control->hooks[i];

		*to = (struct session_hook){.factor = SESSION_HOOK_NONE};
		if (hook->refused)
			continue;
		to->device = hook->device;
		to->inode = hook->inode;
		to->vaddr = hook->vaddr;
		to->is_free = hook->is_free;
		to->argument = hook->argument;
		to->factor = hook->factor;
		to->offset = hook->entry.offset;
		to->moved = hook->entry.moved;
		to->marked = hook->entry.marked;
		memcpy(to->code, hook->code, sizeof(to->code));
	}
	control->hook_count = (uint32_t)hooks->count;
}

void hooks_count(struct hooks *hooks, const struct session_process *process)
{
	for (size_t i = 0; i < hooks->count; i++) {
		uint32_t state = atomic_load(&process->hook_states[i]);

		if (state < SESSION_HOOK_STATES)
			hooks->programs[i][state]++;
	}
}

static const char *const reasons[SESSION_HOOK_STATES] = {
	[SESSION_HOOK_DIFFERS] = "differs in memory from its file",
	[SESSION_HOOK_NO_ROOM] = "has no free memory nearby for a jump",
	[SESSION_HOOK_REFUSED] = "cannot be patched: the system forbids it",
};

/* Why it was not hooked where it should have been; NULL: it was, or no program has it. */
static const char *reason_of(const struct hooks *hooks, size_t index)
{
	if (hooks->items[index].refused)
		return hooks->items[index].refused;
	for (size_t state = 0; state < SESSION_HOOK_STATES; state++)
		if (reasons[state] && hooks->programs[index][state] > 0)
			return reasons[state];
	return NULL;
}

void hooks_remark(const struct hooks *hooks, struct engine_stats *stats)
{
	for (size_t i = 0; i < hooks->count; i++) {
		const char *reason = reason_of(hooks, i);

		if (!reason && hooks->programs[i][SESSION_HOOK_SET] == 0)
			reason = "was not loaded by any program";
		if (reason)
			session_note(stats, "not hooked: %s %s", hooks->items[i].name, reason);
	}
}
