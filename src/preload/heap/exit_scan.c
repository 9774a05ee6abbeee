/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/exit_scan.h"

#include <link.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "preload/arch/native.h"
#include "preload/modules.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "preload/session_file.h"
#include "preload/stack.h"
#include "safe/clock.h"
#include "safe/kept_registers.h"
#include "safe/syscall.h"
#include "safe/thread_pointer.h"
#include "unwind/arch/native.h"
#include "unwind/walk.h"
#include "wire/scan_hints.h"

/* A program waits at most this long for its scan: some gigabytes take that long. */
#define WAIT_NS 60000000000ull
#define ASK_NS 1000000000ull
#define MOST_STOPS 2u
/* Limit for probing: beyond it there are too many threads. */
#define MOST_TRIES 64u
#define TABLES_NS 100000000

_Static_assert(SAFE_KEPT_REGISTERS <= INSIDE_REGISTERS, "room for them");

extern void *__libc_stack_end; /* from the loader: sp at the start of the program */
extern char _end PRELOAD_OWN;

/* Handlers without an object run last, after the destructors of all libraries. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object);
extern int __cxa_at_quick_exit(void (*function)(void *), void *object);

static struct scan_hints inside;

void exit_scan_note_own(uint64_t start, uint64_t bytes)
{
	uint32_t at = atomic_fetch_add(&inside.own_count, 1);

	if (at < INSIDE_OWN)
		inside.own[at] = (struct scan_hint_range){start, bytes};
}

void exit_scan_note_stack(uint64_t low, uint64_t high)
{
	uint32_t at = (uint32_t)(high >> 12) * 0x9e3779b1u;

	for (uint32_t i = 0; i < MOST_TRIES; i++) {
		struct scan_hint_stack *stack = &inside.stacks[(at + i) % INSIDE_STACKS];
		uint64_t known = 0;

		if (!atomic_compare_exchange_strong(&stack->high, &known, high) && known != high)
			continue;
		stack->pointer = safe_thread_pointer();
		stack->low = low;
		return;
	}
}

void exit_scan_note_argument(uint32_t index, const void *argument)
{
	atomic_store(&inside.arguments[index], (uint64_t)(uintptr_t)argument);
}

/* Whether this process is to be scanned. */
static bool is_wanted(void)
{
	return preload_active() && preload.process && preload.control->leaks &&
	       (atomic_load(&preload.mode) & SESSION_HEAP) &&
	       (uint32_t)safe_syscall(SYS_getpid, 0) == preload.pid;
}

/*
 * Waits until the recorder has scanned, has closed the recording, is gone, or takes too long. A
 * stopped recorder must not block the program; only a short stop is waited for.
 */
static void wait_for_scan(void)
{
	uint64_t end_ns = safe_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
	struct timespec step = {.tv_sec = ASK_NS / 1000000000};
	uint32_t stops = 0; /* consecutive */

	while (atomic_load(&preload.process->scan_done) == 0 &&
	       atomic_load(&preload.control->mode) != 0 &&
	       safe_clock_ns(CLOCK_MONOTONIC) < end_ns &&
	       !session_file_recorder_is_gone(preload.control)) {
		stops = session_file_recorder_is_stopped(preload.control) ? stops + 1 : 0;
		if (stops > MOST_STOPS)
			return;
		(void)safe_syscall(SYS_futex, SAFE_POINTER(&preload.process->scan_done), FUTEX_WAIT,
				   0, SAFE_POINTER(&step), 0, 0);
	}
}

/* Whether an address is in the program itself, and not in a library. */
static bool is_program(uint64_t pc)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t count = headers ? getauxval(AT_PHNUM) : 0;
	uint64_t bias = 0;

	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_PHDR)
			bias = (uint64_t)(uintptr_t)headers - headers[i].p_vaddr;
	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD && pc - bias >= headers[i].p_vaddr &&
		    pc - bias < headers[i].p_vaddr + headers[i].p_memsz)
			return true;
	return false;
}

/* A walk may fault: see tick_handler_fault(). Returns whether it reached the first function. */
static __attribute__((noinline)) bool walk_guarded(struct preload_thread *thread,
						   const struct unwind_frame *frame,
						   struct unwind_trace *trace)
{
	volatile bool is_whole = false;

	if (_setjmp(thread->recovery) == 0) {
		atomic_store(&thread->guarded, 1);
		(void)stack_walk(thread, frame, trace);
		is_whole = trace->end == UNWIND_ROOT;
	}
	atomic_store(&thread->guarded, 0);
	return is_whole;
}

/*
 * Whether main() has returned: then only the program's first function is left on the stack. Some
 * functions of the C library, such as err(), end the program as well.
 */
static bool is_after_main(struct preload_thread *thread)
{
	/* However few frames are recorded, this needs the outermost function. */
	struct unwind_trace trace = {.pcs = thread->pcs, .capacity = PRELOAD_DEPTH};
	struct unwind_frame frame;
	uint32_t frames = 0;
	bool is_whole;

	if (atomic_exchange(&thread->busy, 1) != 0)
		return false;
	unwind_capture(&frame);
	is_whole = walk_guarded(thread, &frame, &trace);
	for (uint32_t i = 0; is_whole && i < trace.count; i++)
		frames += is_program(trace.pcs[i] - 1);
	atomic_store(&thread->busy, 0);
	return is_whole && frames <= 1;
}

/*
 * Without tables the walk ends at once: after a library was unloaded, the recorder is still
 * rebuilding the list.
 */
static void wait_for_tables(void)
{
	uint64_t end_ns = safe_clock_ns(CLOCK_MONOTONIC) + ASK_NS;
	uint32_t known;

	while ((int32_t)((known = atomic_load(&preload.process->maps_known)) -
			 atomic_load(&preload.unsure_until)) < 0 &&
	       safe_clock_ns(CLOCK_MONOTONIC) < end_ns &&
	       !session_file_recorder_is_gone(preload.control)) {
		struct timespec step = {.tv_nsec = TABLES_NS};

		(void)safe_syscall(SYS_futex, SAFE_POINTER(&preload.process->maps_known),
				   FUTEX_WAIT, known, SAFE_POINTER(&step), 0, 0);
	}
}

static void ask(void)
{
	uint32_t nobody = 0;
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	if (!is_wanted())
		return;
	if (inside.leaving_sp == 0)
		wait_for_tables();
	if (inside.leaving_sp == 0 && (!preload_self || !is_after_main(preload_self)))
		inside.leaving_sp = here; /* called by code in the C library that we did not see */
	inside.leaving_tid = (uint32_t)safe_syscall(SYS_gettid, 0);
	if (!atomic_compare_exchange_strong(&preload.process->scan_asked, &nobody, 1))
		return;
	session_file_wake();
	wait_for_scan();
}

/* Newly loaded modules get names only if the recorder sees them before the program is gone. */
static void let_modules_be_known(void)
{
	if (preload_active() && preload.process &&
	    atomic_load(&preload.process->maps_changed) > 1 &&
	    (uint32_t)safe_syscall(SYS_getpid, 0) == preload.pid)
		modules_wait_until_known();
}

static void end(void)
{
	let_modules_be_known();
	ask();
}

static void on_exit_last(void *argument)
{
	(void)argument;
	end();
}

/* The stack of the exiting thread starts here; everything below belongs to the exit itself. */
#define NOTE_LEAVING()                                                                             \
	do {                                                                                       \
		if (is_wanted())                                                                   \
			inside.leaving_sp = safe_kept_registers(inside.registers);                 \
	} while (0)

REAL_DEFINE(exit);
PRELOAD_EXPORT void exit(int status)
{
	NOTE_LEAVING();
	REAL(exit)(status);
	__builtin_unreachable();
}

REAL_DEFINE(quick_exit);
PRELOAD_EXPORT void quick_exit(int status)
{
	NOTE_LEAVING();
	REAL(quick_exit)(status);
	__builtin_unreachable();
}

REAL_DEFINE(_exit);
PRELOAD_EXPORT void _exit(int status)
{
	NOTE_LEAVING();
	end();
	REAL(_exit)(status);
	__builtin_unreachable();
}

REAL_DEFINE(_Exit);
PRELOAD_EXPORT void _Exit(int status)
{
	NOTE_LEAVING();
	end();
	REAL(_Exit)(status);
	__builtin_unreachable();
}

/*
 * A system call instruction that the recorder may make a thread of this program execute: it does
 * not return.
 */
__asm__(".pushsection .text\n\t.globl exit_scan_call\n\t.hidden exit_scan_call\n"
	".balign 8\nexit_scan_call:\n\t" ARCH_CALL_AND_TRAP "\t.asciz \"" INSIDE_CALL_MARK
	"\"\n\t.balign 8\n"
	"\t.popsection");
extern char exit_scan_call PRELOAD_OWN;

static void let_recorder_look(void)
{
	/*
	 * Allows a recorder that is not our parent to trace us. Without Yama all processes of a
	 * user may.
	 */
	(void)safe_syscall(SYS_prctl, PR_SET_PTRACER, (long)preload.control->recorder_pid);
}

void exit_scan_begin(void)
{
	uint64_t begin = (uint64_t)(uintptr_t)__ehdr_start;

	preload.process->inside_address = (uint64_t)(uintptr_t)&inside;
	if (!(preload.control->mode & SESSION_HEAP))
		return;
	(void)__cxa_atexit(on_exit_last, NULL, NULL);
	(void)__cxa_at_quick_exit(on_exit_last, NULL);
	if (!preload.control->leaks)
		return;
	inside.stack_end = (uint64_t)(uintptr_t)__libc_stack_end;
	inside.call_address = (uint64_t)(uintptr_t)&exit_scan_call;
	exit_scan_note_own(begin, (uint64_t)(uintptr_t)&_end - begin);
	let_recorder_look();
}

void exit_scan_forked(void)
{
	preload.process->inside_address = (uint64_t)(uintptr_t)&inside;
	if (!preload.control->leaks)
		return;
	inside.leaving_sp = 0;
	inside.leaving_tid = 0;
	for (uint32_t i = 0; i < INSIDE_THREADS; i++) /* these threads belong to the parent */
		atomic_store_explicit(&inside.arguments[i], 0, memory_order_relaxed);
	let_recorder_look();
}
