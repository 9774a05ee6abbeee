/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of the allocator that are left by a throw or a jump, on stacks that go away after that.
 *
 * fibers WAY SWITCH KILOBYTES ROUNDS
 *
 * WAY is how they are left: `bad` (memory cannot be had, which throws), `handler` (the new-handler
 * jumps), `thrown` or `jumped` (all functions, by the allocator that the program is linked with),
 * `pool` (a function of the program's own, which jumps), `turns` (not at all: fibers take turns).
 * SWITCH is `context` or `hand`, or `none`: no fibers, but two threads, one after the other. What
 * take_blocks() takes after that, on a stack below the one that has gone, is said as JSON.
 * KILOBYTES are those of a stack.
 */
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>

#include "fiber_switch.h"
#ifndef PART
#include "leaving.h"
#endif

#define NOINLINE __attribute__((noinline))

extern "C" { /* names as they are written */

static constexpr std::align_val_t WIDE{64};
static constexpr int TURNS = 8;
static volatile std::size_t huge = static_cast<std::size_t>(-1) >> 1;

static std::size_t wanted; /* by the calls below */
static void *block;        /* what they gave */
static thread_local jmp_buf back;
static std::exception_ptr kept; /* the last exception */
static long left_calls;
static long given;
static long taken_blocks;
static long taken_bytes;

struct left_by_throw {
};

static void jump_back()
{
#ifndef PART
	leaving_hook = nullptr;
#endif
	longjmp(back, 1);
}

#ifndef PART
static void throw_back()
{
	leaving_hook = nullptr; /* the exception's own memory */
	throw left_by_throw();
}
#endif

/* Headers say of most that they throw nothing: what is called by a pointer may. */
#define BY_POINTER(name) static __typeof__(&name) volatile name##_by = name
BY_POINTER(malloc);
BY_POINTER(calloc);
BY_POINTER(realloc);
BY_POINTER(reallocarray);
BY_POINTER(posix_memalign);
BY_POINTER(aligned_alloc);
BY_POINTER(memalign);
BY_POINTER(valloc);
BY_POINTER(pvalloc);
BY_POINTER(strdup);
BY_POINTER(free);

/* A function each, so that its caller is known. */
#define CALL(name, expression)                                                                     \
	static NOINLINE void call_##name()                                                         \
	{                                                                                          \
		block = expression;                                                                \
		__asm__ volatile("" : : : "memory");                                               \
	}                                                                                          \
	static_assert(true, "takes a semicolon")

static void *quiet(std::size_t size)
{
	return ::operator new(size, std::nothrow);
}

CALL(new, ::operator new(wanted));
CALL(new_array, ::operator new[](wanted));
CALL(new_wide, ::operator new(wanted, WIDE));
CALL(new_array_wide, ::operator new[](wanted, WIDE));
CALL(new_quiet, quiet(wanted));
CALL(new_array_quiet, ::operator new[](wanted, std::nothrow));
CALL(new_wide_quiet, ::operator new(wanted, WIDE, std::nothrow));
CALL(new_array_wide_quiet, ::operator new[](wanted, WIDE, std::nothrow));
CALL(malloc, malloc_by(wanted));
CALL(calloc, calloc_by(1, wanted));
CALL(realloc, realloc_by(nullptr, wanted));
CALL(reallocarray, reallocarray_by(nullptr, 1, wanted));
CALL(posix_memalign, posix_memalign_by(&block, 64, wanted) == 0 ? block : nullptr);
CALL(aligned_alloc, aligned_alloc_by(64, wanted));
CALL(memalign, memalign_by(64, wanted));
CALL(valloc, valloc_by(wanted));
CALL(pvalloc, pvalloc_by(wanted));
CALL(strdup, strdup_by("a word"));

typedef void call_fn();
static call_fn *const calls[] = {
	call_new,
	call_new_array,
	call_new_wide,
	call_new_array_wide,
	call_new_quiet,
	call_new_array_quiet,
	call_new_wide_quiet,
	call_new_array_wide_quiet,
	call_malloc,
	call_calloc,
	call_realloc,
	call_reallocarray,
	call_posix_memalign,
	call_aligned_alloc,
	call_memalign,
	call_valloc,
	call_pvalloc,
	call_strdup,
};
static constexpr int NEWS = 8;
static constexpr int CALLS = sizeof(calls) / sizeof(calls[0]);

#define ROOM_FOR_A_JUMP                                                                            \
	"nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop"

/* A pool, as somebody could hook it; of no bytes there are none. */
NOINLINE void *fiber_get(std::size_t size)
{
	static char room[4096];

	__asm__ volatile(ROOM_FOR_A_JUMP : "+r"(size) : : "memory");
	if (size == 0)
		longjmp(back, 1);
	return room;
}

NOINLINE void fiber_put(void *given_back)
{
	__asm__ volatile(ROOM_FOR_A_JUMP : : "r"(given_back) : "memory");
}

/* Some of each, all given back by the same function. */
static NOINLINE void take_blocks(bool pool)
{
	for (int i = 1; i <= 10; i++) {
		void *volatile blocks[] = {malloc_by(static_cast<std::size_t>(i)), calloc_by(2, 8),
					   ::operator new(24), ::operator new[](32),
					   pool ? fiber_get(40) : nullptr};

		taken_blocks += 4;
		taken_bytes += i + 16 + 24 + 32;
		free_by(blocks[0]);
		free_by(blocks[1]);
		::operator delete(blocks[2]);
		::operator delete[](blocks[3]);
		if (pool)
			fiber_put(blocks[4]);
	}
}

/* What one fiber does: one call, and how it is left. */
struct task {
	const char *way;
	int call;
};

static bool is_way(const task *task, const char *way)
{
	return strcmp(task->way, way) == 0;
}

static NOINLINE void call_and_catch(const task *task)
{
	block = nullptr;
	try {
		calls[task->call]();
		given++;
	} catch (...) {
		left_calls++;
		kept = std::current_exception();
	}
}

static NOINLINE void call_and_land(const task *task)
{
	block = nullptr;
	if (setjmp(back) != 0) {
		left_calls++;
	} else if (is_way(task, "pool")) {
		block = fiber_get(0);
	} else {
		calls[task->call]();
		given++;
	}
}

static void leave_a_call(void *argument)
{
	const task *what = static_cast<const task *>(argument);

	wanted = is_way(what, "bad") || is_way(what, "handler") ? huge : 56;
#ifndef PART
	if (is_way(what, "thrown"))
		leaving_hook = throw_back;
	if (is_way(what, "jumped"))
		leaving_hook = jump_back;
#endif
	std::set_new_handler(is_way(what, "handler") ? jump_back : nullptr);
	if (is_way(what, "bad") || is_way(what, "thrown"))
		call_and_catch(what);
	else
		call_and_land(what);
	std::set_new_handler(nullptr);
#ifndef PART
	leaving_hook = nullptr;
#endif
}

static void take_after(void *argument)
{
	take_blocks(is_way(static_cast<const task *>(argument), "pool"));
}

static void *map_stack(void *at, std::size_t bytes)
{
	void *stack = mmap(at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (stack == MAP_FAILED)
		abort();
	return stack;
}

/* A call is left on the upper stack, which goes; blocks are taken on the lower one. */
static void on_two_stacks(task *what, bool by_hand, std::size_t bytes)
{
	static fiber upper;
	static fiber lower;
	char *stacks = static_cast<char *>(map_stack(nullptr, 2 * bytes));

	upper = {};
	lower = {};
	upper.by_hand = lower.by_hand = by_hand;
	upper.argument = lower.argument = what;
	upper.run = leave_a_call;
	lower.run = take_after;
	fiber_make(&upper, stacks + bytes, bytes);
	fiber_make(&lower, stacks, bytes);
	fiber_resume(&upper);
	if (munmap(stacks + bytes, bytes) != 0)
		abort();
	fiber_resume(&lower);
	if (!upper.ended || !lower.ended || munmap(stacks, bytes) != 0)
		abort();
}

static void run_thread(void *(*function)(void *), task *what, void *stack, std::size_t bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstack(&attributes, stack, bytes) != 0 ||
	    pthread_create(&thread, &attributes, function, what) != 0 ||
	    pthread_join(thread, nullptr) != 0 || pthread_attr_destroy(&attributes) != 0)
		abort();
}

static void *leave_in_thread(void *argument)
{
	leave_a_call(argument);
	return nullptr;
}

static void *take_in_thread(void *argument)
{
	take_after(argument);
	return nullptr;
}

/* A thread ends after that, and the next one may have what was kept for it. */
static void in_two_threads(task *what, std::size_t bytes)
{
	char *stacks = static_cast<char *>(map_stack(nullptr, 2 * bytes));

	run_thread(leave_in_thread, what, stacks + bytes, bytes);
	if (munmap(stacks + bytes, bytes) != 0)
		abort();
	run_thread(take_in_thread, what, stacks, bytes);
	if (munmap(stacks, bytes) != 0)
		abort();
}

static void take_a_turn(void *argument)
{
	for (int i = 0; i < TURNS; i++) {
		void *held = malloc_by(static_cast<std::size_t>(i) + 1);

		fiber_yield();
		free_by(held);
		take_after(argument);
	}
}

static void take_turns(task *what, bool by_hand, std::size_t bytes)
{
	static fiber fibers[TURNS];
	char *stacks = static_cast<char *>(map_stack(nullptr, TURNS * bytes));
	int ended = 0;

	for (int i = 0; i < TURNS; i++) {
		fibers[i] = {};
		fibers[i].by_hand = by_hand;
		fibers[i].argument = what;
		fibers[i].run = take_a_turn;
		fiber_make(&fibers[i], stacks + static_cast<std::size_t>(i) * bytes, bytes);
	}
	for (int i = 0; ended < TURNS; i = (i + 3) % TURNS) {
		if (fibers[i].ended)
			continue;
		fiber_resume(&fibers[i]);
		ended += fibers[i].ended;
	}
	if (munmap(stacks, TURNS * bytes) != 0)
		abort();
}

static void round_of(task *what, const char *change, std::size_t bytes)
{
	if (strcmp(change, "none") == 0)
		in_two_threads(what, bytes);
	else if (is_way(what, "turns"))
		take_turns(what, strcmp(change, "hand") == 0, bytes);
	else
		on_two_stacks(what, strcmp(change, "hand") == 0, bytes);
}

__attribute__((visibility("default"))) int fibers(int argc, char **argv)
{
	std::size_t bytes = argc > 3 ? std::strtoul(argv[3], nullptr, 10) * 1024 : 0;
	long rounds = argc > 4 ? std::strtol(argv[4], nullptr, 10) : 0;
	task what = {argc > 1 ? argv[1] : "", 0};
	bool all = is_way(&what, "thrown") || is_way(&what, "jumped");
	bool any = all || is_way(&what, "bad") || is_way(&what, "handler");

	if (rounds <= 0)
		return 2;
	for (long i = 0; i < rounds; i++)
		for (what.call = 0; what.call < (all ? CALLS : any ? NEWS : 1); what.call++)
			round_of(&what, argv[2], bytes);
	kept = nullptr;
	std::printf("{\"left\": %ld, \"given\": %ld, \"take_blocks\": {\"blocks\": %ld, \"bytes\": "
		    "%ld, \"live\": 0}}\n",
		    left_calls, given, taken_blocks, taken_bytes);
	return 0;
}

} /* extern "C" */

#ifndef PART
int main(int argc, char **argv)
{
	return fibers(argc, argv);
}
#endif
