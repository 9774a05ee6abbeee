/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stack.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/python_calls.h"
#include "preload/ring.h"
#include "preload/runtime.h"
#include "safe/syscall.h"
#include "unwind/walk.h"

/*
 * Gets the newest list of modules. If modules may have been unloaded since, there is none until the
 * recorder publishes a new one, because old rules would be wrong.
 */
bool stack_has_rules(void)
{
	struct session_process *process = preload.process;
	uint32_t known = atomic_load_explicit(&process->maps_known, memory_order_acquire);
	const struct unwind_modules *modules =
		(const struct unwind_modules *)(uintptr_t)atomic_load(&process->modules);

	if ((int32_t)(known - atomic_load(&preload.unsure_until)) < 0 ||
	    preload.control->frame_pointers_only)
		modules = NULL;
	if (modules != atomic_load(&preload.unwind.modules))
		atomic_store(&preload.unwind.modules, modules);
	return modules != NULL;
}

/* The stack is not the thread's own: checks whether it is its signal stack. */
static void find_alternate(struct preload_thread *thread, uint64_t sp)
{
	stack_t stack = {.ss_flags = SS_DISABLE};

	thread->unwind.alternate = (struct unwind_stack){0, 0};
	if (unwind_on_stack(&thread->unwind.stack, sp) ||
	    safe_syscall(SYS_sigaltstack, 0, SAFE_POINTER(&stack)) < 0 ||
	    (stack.ss_flags & SS_DISABLE))
		return;
	thread->unwind.alternate = (struct unwind_stack){
		(uint64_t)(uintptr_t)stack.ss_sp, (uint64_t)(uintptr_t)stack.ss_sp + stack.ss_size};
}

uint16_t stack_walk(struct preload_thread *thread, const struct unwind_frame *frame,
		    struct unwind_trace *trace)
{
	uint16_t flags = 0;

	if (!stack_has_rules()) {
		flags = SESSION_BY_FRAME_POINTER;
		preload_count(SESSION_FRAME_POINTERS, 1);
	}
	find_alternate(thread, frame->sp);
	unwind_own_walk(&preload.unwind, &thread->unwind, frame, trace);
	return flags | ((uint16_t)trace->end & SESSION_END_MASK);
}

uint32_t stack_depth(void)
{
	return preload.control->depth < PRELOAD_DEPTH ? preload.control->depth : PRELOAD_DEPTH;
}

void stack_take(struct preload_thread *thread, const struct unwind_frame *frame,
		struct ring_sample *sample)
{
	struct unwind_trace trace = {.pcs = thread->pcs, .capacity = stack_depth()};

	sample->flags &= (uint16_t)~SESSION_END_MASK;
	sample->flags |= stack_walk(thread, frame, &trace);
	sample->count = trace.count + python_calls_take(thread, trace.count);
}
