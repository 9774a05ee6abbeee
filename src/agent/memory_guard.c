/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/memory_guard.h"

#include <stdbool.h>

#include "base/clock.h"

#define TIDY_ABOVE 0.85 /* of the limit */
#define ROOM_BELOW 0.6
/* Tidying pays if at least this part of the limit was added since the last time. */
#define WORTH_TIDYING 0.08
/* What was freed has to be read again, which costs CPU time. */
#define TIDY_EVERY_NS (10 * NS_PER_SEC)
/* A pause frees little of what an engine needs: it is only for what would grow without end. */
#define PAUSE_ABOVE 1.25
/* What a tidying or a step has freed shows after this time. */
#define SETTLE_NS (2 * NS_PER_SEC)
#define STEP_EVERY_NS (20 * NS_PER_SEC)
#define BACK_AFTER_NS (600 * NS_PER_SEC)
#define PAUSE_NS (60 * NS_PER_SEC)

static bool has_passed(uint64_t since_ns, uint64_t time_ns, uint64_t now_ns)
{
	return since_ns == 0 || now_ns - since_ns >= time_ns;
}

static enum memory_action change(struct memory_guard *guard, enum memory_step step, uint64_t now_ns)
{
	guard->step = step;
	guard->changed_ns = now_ns;
	guard->tidied_ns = now_ns;
	return MEMORY_CHANGE;
}

/* Whether freeing what can be found again would help. */
static bool is_untidy(const struct memory_guard *guard, double part, uint64_t now_ns)
{
	return part > TIDY_ABOVE && has_passed(guard->tidied_ns, TIDY_EVERY_NS, now_ns) &&
	       (part > 1 || part > guard->tidy_part + WORTH_TIDYING);
}

/* Whether it did not help. */
static bool is_too_large(const struct memory_guard *guard, double part, uint64_t now_ns)
{
	return part > (guard->step < MEMORY_SHORTER_STACKS ? 1 : PAUSE_ABOVE) &&
	       guard->step < MEMORY_PAUSE && guard->tidied_ns > 0 &&
	       has_passed(guard->tidied_ns, SETTLE_NS, now_ns) &&
	       !has_passed(guard->tidied_ns, TIDY_EVERY_NS, now_ns) &&
	       has_passed(guard->changed_ns, STEP_EVERY_NS, now_ns);
}

enum memory_action memory_guard_look(struct memory_guard *guard, uint64_t used_bytes,
				     uint64_t now_ns)
{
	double part = guard->limit_bytes > 0 ? (double)used_bytes / (double)guard->limit_bytes : 0;

	if (part < guard->tidy_part)
		guard->tidy_part = part;
	if (guard->step == MEMORY_PAUSE && has_passed(guard->changed_ns, PAUSE_NS, now_ns))
		return change(guard, MEMORY_SHORTER_STACKS, now_ns);
	if (guard->step != MEMORY_ALL && part < ROOM_BELOW &&
	    has_passed(guard->changed_ns, BACK_AFTER_NS, now_ns))
		return change(guard, guard->step - 1, now_ns);
	if (is_too_large(guard, part, now_ns))
		return change(guard, guard->step + 1, now_ns);
	if (is_untidy(guard, part, now_ns)) {
		guard->tidied_ns = now_ns;
		guard->tidy_part = part; /* until it shows what is left */
		return MEMORY_TIDY;
	}
	return MEMORY_FINE;
}

const char *memory_step_name(enum memory_step step)
{
	static const char *const names[MEMORY_STEPS] = {
		[MEMORY_ALL] = "all",
		[MEMORY_FEWER_SERVICES] = "fewer services",
		[MEMORY_SHORTER_STACKS] = "shorter stacks",
		[MEMORY_PAUSE] = "pause",
	};

	return names[step];
}
