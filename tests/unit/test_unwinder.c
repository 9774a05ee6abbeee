/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "engine/unwinder.h"
#include "process_stacks/registers.h"
#include "unwind/arch/native.h"

#define FRAMES 128
#define NOINLINE __attribute__((noinline))

static NOINLINE long descend(int depth)
{
	volatile char room[4000]; /* so that the stack is larger than the first piece */

	room[0] = (char)depth;
	if (depth == 0)
		(void)raise(SIGSTOP); /* the tracer looks at us here */
	return depth == 0 ? 1 : descend(depth - 1) + room[0];
}

/* A child that is stopped deep down, and its unwinder. */
struct fixture {
	pid_t pid;
	struct unwinder *unwinder;
	struct unwinder_process *process;
	uint64_t pcs[FRAMES];
	struct unwind_trace trace;
};

static void fixture_init(struct fixture *fixture, int depth)
{
	struct error err;
	int status;

	*fixture = (struct fixture){.pid = fork()};
	fixture->trace = (struct unwind_trace){.pcs = fixture->pcs, .capacity = FRAMES};
	assert_true(fixture->pid >= 0);
	if (fixture->pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		_exit(descend(depth) < 0);
	}
	assert_int_equal(waitpid(fixture->pid, &status, 0), fixture->pid);
	assert_true(WIFSTOPPED(status));
	fixture->unwinder = unwinder_new();
	assert_non_null(fixture->unwinder);
	assert_int_equal(
		unwinder_process_open(fixture->unwinder, fixture->pid, &fixture->process, &err), 0);
}

static void fixture_fini(struct fixture *fixture)
{
	(void)kill(fixture->pid, SIGKILL);
	(void)waitpid(fixture->pid, NULL, 0);
	unwinder_process_close(fixture->process);
	unwinder_free(fixture->unwinder);
}

static uint32_t frames_of_thread(int depth)
{
	struct fixture fixture;
	uint32_t count;

	fixture_init(&fixture, depth);
	assert_int_equal(unwinder_walk_thread(fixture.process, fixture.pid, &fixture.trace), 0);
	assert_int_equal(fixture.trace.end, UNWIND_ROOT);
	count = fixture.trace.count;
	fixture_fini(&fixture);
	return count;
}

static void a_stopped_thread_is_walked_to_its_root(void **state)
{
	uint32_t shallow = frames_of_thread(2);

	assert_int_equal(frames_of_thread(42) - shallow, 40);
}

static void a_copied_stack_gives_what_the_live_one_gives(void **state)
{
	static unsigned char bytes[65528];
	struct fixture fixture;
	struct registers registers;
	uint64_t live[FRAMES];
	uint32_t count;

	fixture_init(&fixture, 3);
	assert_int_equal(unwinder_walk_thread(fixture.process, fixture.pid, &fixture.trace), 0);
	count = fixture.trace.count;
	memcpy(live, fixture.pcs, sizeof(live));
	assert_int_equal(registers_of_thread(fixture.pid, &registers), 0);
	uint64_t sp = registers.values[UNWIND_NATIVE.sp_register];
	struct iovec local = {bytes, sizeof(bytes)};
	struct iovec remote = {(void *)(uintptr_t)sp, sizeof(bytes)};
	ssize_t n = process_vm_readv(fixture.pid, &local, 1, &remote, 1, 0);
	assert_true(n > 0);

	struct stack_copy copy = {&registers, bytes, (size_t)n};
	unwinder_walk_copy(fixture.process, &copy, &fixture.trace);
	assert_int_equal(fixture.trace.end, UNWIND_ROOT);
	assert_int_equal(fixture.trace.count, count);
	assert_memory_equal(fixture.pcs, live, count * sizeof(live[0]));

	copy.size_bytes = 6000; /* one frame and a half */
	unwinder_walk_copy(fixture.process, &copy, &fixture.trace);
	assert_int_equal(fixture.trace.end, UNWIND_UNREADABLE);
	assert_true(fixture.trace.count < count);
	fixture_fini(&fixture);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
	struct fixture fixture;

	fixture_init(&fixture, 0);
	(void)kill(fixture.pid, SIGKILL);
	(void)waitpid(fixture.pid, NULL, 0);
	assert_int_equal(unwinder_walk_thread(fixture.process, fixture.pid, &fixture.trace),
			 -ESRCH);
	assert_true(unwinder_process_refresh(fixture.process, NULL) < 0);
	unwinder_process_close(fixture.process);
	unwinder_free(fixture.unwinder);
}

static void registers_of_a_sample_come_in_the_order_of_their_bits(void **state)
{
	uint64_t mask = registers_perf_mask();
	uint64_t values[64];
	struct registers registers;

	for (uint64_t i = 0; i < 64; i++)
		values[i] = 100 + i;
	assert_int_equal(registers_of_sample(mask, values, &registers), 0);
#if defined(__aarch64__)
	assert_int_equal(registers.values[30], 130);
	assert_int_equal(registers.values[31], 131);
	assert_int_equal(registers.pc, 132);
#else
	assert_int_equal(registers.values[3], 101); /* rbx is bit 1 */
	assert_int_equal(registers.values[7], 107); /* rsp */
	assert_int_equal(registers.values[8], 109); /* r8 is bit 16; 9 to 15 are not asked for */
	assert_int_equal(registers.pc, 108);
#endif
	assert_int_equal(registers_of_sample(1, values, &registers), -EINVAL);
}

/* A file may have them anywhere: the sanitisers see a word that is read where none may be. */
static void registers_of_a_sample_may_begin_at_any_byte(void **state)
{
	uint64_t mask = registers_perf_mask();
	uint64_t values[64];
	uint8_t bytes[sizeof(values) + 1];
	struct registers plain;
	struct registers moved;

	for (uint64_t i = 0; i < 64; i++)
		values[i] = 100 + i;
	memcpy(bytes + 1, values, sizeof(values));
	assert_int_equal(registers_of_sample(mask, values, &plain), 0);
	assert_int_equal(registers_of_sample(mask, bytes + 1, &moved), 0);
	assert_memory_equal(&plain, &moved, sizeof(plain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_thread_is_walked_to_its_root),
		cmocka_unit_test(a_copied_stack_gives_what_the_live_one_gives),
		cmocka_unit_test(a_process_that_is_gone_is_an_error),
		cmocka_unit_test(registers_of_a_sample_come_in_the_order_of_their_bits),
		cmocka_unit_test(registers_of_a_sample_may_begin_at_any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
