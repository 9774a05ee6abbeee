/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stepper: steps through a program one instruction at a time and compares, at
 * each, the stack that the remote walker finds with the true call chain.
 *
 *	stepper [-s EVERY] [-n STEPS] PROGRAM
 *
 * Prints lines of "key value …": totals, and the places where walks went wrong:
 *
 *	steps 51234 right 51230 own 20123 own_right 20122
 *	miss COUNT MODULE VADDR KIND END
 *
 * The place of a miss is the frame whose caller was not found. KIND is skipped,
 * extra, wrong or short. A signal is sent every EVERY instructions, in turn to
 * the handlers on the own and on the alternate stack. The walk of the copied
 * stack (as perf gives it) must say the same as that of the live one.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "engine/unwinder.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "process_stacks/registers.h"
#include "unwind/arch/native.h"

#include "../unwind/stepped.h"
#include "step_truth.h"

#if defined(__aarch64__)
#define BREAKPOINT 0xd4200000ul
#define BREAKPOINT_MASK 0xfffffffful
#define BREAKPOINT_SKIP 0 /* how far pc is past a breakpoint that was hit */
#define SYSTEM_CALL_REGISTER 8
#define SIGNAL_RETURN 139
#else
#define BREAKPOINT 0xccul
#define BREAKPOINT_MASK 0xfful
#define BREAKPOINT_SKIP 1
#define SYSTEM_CALL_REGISTER 0
#define SIGNAL_RETURN 15
#endif

#define CODE_SLOTS 65536
#define COPY_BYTES 65528 /* the most that a perf sample holds */

struct code_slot {
	uint64_t pc;
	unsigned char bytes[16];
};

struct miss {
	uint64_t place;
	const char *kind;
	enum unwind_end end;
	uint64_t count;
};

struct stepper {
	pid_t pid;
	struct shadow *shadow;
	struct unwinder *unwinder;
	struct unwinder_process *process;
	struct truth truth;
	struct registers now;
	struct maps maps;
	struct code_slot *code;
	unsigned char *copy;
	VEC(struct miss) misses;
	uint64_t own_start; /* the program's own code */
	uint64_t own_end;
	uint64_t steps, right, own, own_right, copy_differs, shadow_wrong, signals;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void start_program(struct stepper *stepper, const char *program)
{
	int fd = memfd_create("shadow", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof(*stepper->shadow)) < 0)
		die("memfd_create");
	stepper->shadow =
		mmap(NULL, sizeof(*stepper->shadow), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (stepper->shadow == MAP_FAILED)
		die("mmap");
	stepper->pid = fork();
	if (stepper->pid < 0)
		die("fork");
	if (stepper->pid == 0) {
		if (dup2(fd, SHADOW_FD) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(126);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
}

/* Waits for a stop; returns the signal, or -1 when the program has ended. */
static int wait_stop(const struct stepper *stepper)
{
	int status;

	if (waitpid(stepper->pid, &status, 0) < 0)
		die("waitpid");
	if (!WIFSTOPPED(status)) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
			fprintf(stderr, "stepper: the program ended with status %x\n", status);
			exit(1);
		}
		return -1;
	}
	return WSTOPSIG(status);
}

/* Where the program itself begins, after the dynamic linker. */
static uint64_t entry_address(const struct stepper *stepper)
{
	char path[64];
	uint64_t pair[2];
	uint64_t entry = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/auxv", stepper->pid);
	FILE *file = fopen(path, "re");
	if (!file)
		die(path);
	while (fread(pair, sizeof(pair), 1, file) == 1 && pair[0] != AT_NULL)
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	(void)fclose(file);
	return entry;
}

static void run_to(struct stepper *stepper, uint64_t address)
{
	void *place = (void *)(uintptr_t)address;

	errno = 0;
	long word = ptrace(PTRACE_PEEKTEXT, stepper->pid, place, NULL);
	if (errno != 0)
		die("peek");
	unsigned long patched = ((unsigned long)word & ~BREAKPOINT_MASK) | BREAKPOINT;
	if (ptrace(PTRACE_POKETEXT, stepper->pid, place, (void *)patched) < 0 ||
	    ptrace(PTRACE_CONT, stepper->pid, NULL, NULL) < 0)
		die("breakpoint");
	if (wait_stop(stepper) != SIGTRAP)
		die("the program did not reach its entry");
	if (ptrace(PTRACE_POKETEXT, stepper->pid, place, (void *)word) < 0)
		die("poke");
#if BREAKPOINT_SKIP
	long at = ptrace(PTRACE_PEEKUSER, stepper->pid, (void *)(8 * 16), NULL);
	if (ptrace(PTRACE_POKEUSER, stepper->pid, (void *)(8 * 16), (void *)(at - 1)) < 0)
		die("poke");
#endif
}

static void learn_maps(struct stepper *stepper)
{
	struct error err;

	maps_fini(&stepper->maps);
	stepper->maps = (struct maps){0};
	if (maps_read(&stepper->maps, stepper->pid, MAPS_EXECUTABLE_ONLY, &err) < 0 ||
	    unwinder_process_refresh(stepper->process, &err) < 0) {
		fprintf(stderr, "stepper: %s\n", err.text);
		exit(1);
	}
}

/* Sixteen bytes of code, which does not change. */
static const unsigned char *code_at(struct stepper *stepper, uint64_t pc)
{
	struct code_slot *slot = &stepper->code[(pc >> 1) % CODE_SLOTS];

	if (slot->pc == pc)
		return slot->bytes;
	struct iovec local = {slot->bytes, sizeof(slot->bytes)};
	struct iovec remote = {(void *)(uintptr_t)pc, sizeof(slot->bytes)};

	memset(slot->bytes, 0, sizeof(slot->bytes));
	if (process_vm_readv(stepper->pid, &local, 1, &remote, 1, 0) < 4)
		die("code");
	slot->pc = pc;
	return slot->bytes;
}

static void add_miss(struct stepper *stepper, uint64_t place, const char *kind, enum unwind_end end)
{
	for (size_t i = 0; i < stepper->misses.count; i++) {
		struct miss *miss = &stepper->misses.items[i];

		if (miss->place == place && miss->kind == kind && miss->end == end) {
			miss->count++;
			return;
		}
	}
	if (vec_push(&stepper->misses, (struct miss){place, kind, end, 1}) < 0)
		die("memory");
}

/* The true address of frame i of a walk, leaf first; 0 past the root. */
static uint64_t true_frame(const struct stepper *stepper, size_t i)
{
	if (i == 0)
		return stepper->now.pc;
	return i <= stepper->truth.depth ? stepper->truth.chain[stepper->truth.depth - i] : 0;
}

/* Whether address comes further on in the true chain. */
static bool is_further(const struct stepper *stepper, size_t i, uint64_t address)
{
	for (; i <= stepper->truth.depth; i++)
		if (true_frame(stepper, i) == address)
			return true;
	return false;
}

static void judge(struct stepper *stepper, const struct unwind_trace *trace)
{
	size_t frames = stepper->truth.depth + 1;
	bool own = stepper->now.pc >= stepper->own_start && stepper->now.pc < stepper->own_end;
	size_t i = 0;

	while (i < frames && i < trace->count && trace->pcs[i] == true_frame(stepper, i))
		i++;
	stepper->steps++;
	stepper->own += own;
	if (i == frames && i == trace->count && trace->end == UNWIND_ROOT) {
		stepper->right++;
		stepper->own_right += own;
		return;
	}
	const char *kind = "wrong";

	if (i == trace->count)
		kind = i == frames ? "end" : "short";
	else if (i < frames && is_further(stepper, i + 1, trace->pcs[i]))
		kind = "skipped";
	else if (i == frames ||
		 (i + 1 < trace->count && trace->pcs[i + 1] == true_frame(stepper, i)))
		kind = "extra";
	add_miss(stepper, true_frame(stepper, i > 0 ? i - 1 : 0), kind, trace->end);
}

/*
 * The program's own account must be part of what the decoder followed: entry by
 * entry, from the innermost on, in the same order.
 */
static void check_shadow(struct stepper *stepper)
{
	uint32_t depth = stepper->shadow->depth;
	size_t at = stepper->truth.depth;

	for (uint32_t i = depth; i > 0; i--) {
		uint64_t address = stepper->shadow->returns[i - 1];

		/* That of a handler is the trampoline's. */
		while (at > 0 && stepper->truth.chain[at - 1] != address &&
		       stepper->truth.chain[at - 1] != address + 1)
			at--;
		if (at == 0) {
			stepper->shadow_wrong++;
			return;
		}
		at--;
	}
}

/* Walks a copy of the stack: it must say the same unless the copy was too small. */
static void check_copy(struct stepper *stepper, const struct unwind_trace *live)
{
	uint64_t pcs[TRUTH_DEPTH];
	struct unwind_trace trace = {.pcs = pcs, .capacity = TRUTH_DEPTH};
	struct iovec local = {stepper->copy, COPY_BYTES};
	uint64_t sp = stepper->now.values[UNWIND_NATIVE.sp_register];
	struct iovec remote = {(void *)(uintptr_t)sp, COPY_BYTES};
	ssize_t n = process_vm_readv(stepper->pid, &local, 1, &remote, 1, 0);
	struct stack_copy copy = {&stepper->now, stepper->copy, n < 0 ? 0 : (size_t)n};

	unwinder_walk_copy(stepper->process, &copy, &trace);
	if (trace.count > live->count ||
	    memcmp(trace.pcs, live->pcs, trace.count * sizeof(pcs[0])) != 0)
		stepper->copy_differs++;
	else if (trace.end != live->end && trace.end != UNWIND_UNREADABLE &&
		 trace.end != UNWIND_NO_PROGRESS)
		stepper->copy_differs++;
}

static void compare_walk(struct stepper *stepper)
{
	uint64_t pcs[TRUTH_DEPTH];
	struct unwind_trace trace = {.pcs = pcs, .capacity = TRUTH_DEPTH};

	if (unwinder_walk_thread(stepper->process, stepper->pid, &trace) < 0)
		die("registers");
	judge(stepper, &trace);
	check_shadow(stepper);
	if (stepper->steps % 64 == 0)
		check_copy(stepper, &trace);
}

/* The address that a handler returns to, at its first instruction. */
static uint64_t trampoline_address(const struct stepper *stepper)
{
	if (UNWIND_NATIVE.lr_register < UNWIND_REGISTERS)
		return stepper->now.values[UNWIND_NATIVE.lr_register];
	uint64_t sp = stepper->now.values[UNWIND_NATIVE.sp_register];
	return (uint64_t)ptrace(PTRACE_PEEKDATA, stepper->pid, (void *)(uintptr_t)sp, NULL);
}

/* A signal to send at this step, 0: none. */
static int signal_due(struct stepper *stepper, uint64_t every)
{
	/* Handlers longer than the time between signals would never end. */
	if (every == 0 || !stepper->shadow->handlers_ready || stepper->steps % every != 0 ||
	    stepper->truth.signals > 0)
		return 0;
	return stepper->signals++ % 2 == 0 ? SIGUSR1 : SIGUSR2;
}

static bool is_handler(const struct stepper *stepper, uint64_t pc)
{
	return pc == stepper->shadow->handler || pc == stepper->shadow->alternate_handler;
}

/* One instruction, or the delivery of a signal. Returns false when the program has ended. */
static bool one_step(struct stepper *stepper, int number)
{
	struct executed executed = {.from = stepper->now.pc};

	executed.bytes = code_at(stepper, executed.from);
	executed.is_signal_return = stepper->now.values[SYSTEM_CALL_REGISTER] == SIGNAL_RETURN;
	if (ptrace(PTRACE_SINGLESTEP, stepper->pid, NULL, (void *)(uintptr_t)number) < 0)
		die("singlestep");
	int stop = wait_stop(stepper);

	if (stop < 0)
		return false;
	if (registers_of_thread(stepper->pid, &stepper->now) < 0)
		die("registers");
	executed.to = stepper->now.pc;
	if (number != 0 && is_handler(stepper, executed.to))
		truth_signal(&stepper->truth, executed.from, trampoline_address(stepper));
	else if (executed.to != executed.from)
		truth_follow(&stepper->truth, &executed);
	if (stop != SIGTRAP)
		return one_step(stepper, stop);
	return true;
}

static void find_own_code(struct stepper *stepper, uint64_t entry)
{
	const struct map_region *region = maps_find(&stepper->maps, entry);

	if (!region)
		die("entry");
	stepper->own_start = region->start;
	stepper->own_end = region->end;
}

static int by_count(const void *a, const void *b)
{
	const struct miss *x = a;
	const struct miss *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void print_results(struct stepper *stepper)
{
	struct module_files *files = module_files_new();

	printf("steps %" PRIu64 " right %" PRIu64 " own %" PRIu64 " own_right %" PRIu64
	       " copy_differs %" PRIu64 " shadow_wrong %" PRIu64 " broken %" PRIu64
	       " signals %" PRIu64 "\n",
	       stepper->steps, stepper->right, stepper->own, stepper->own_right,
	       stepper->copy_differs, stepper->shadow_wrong, stepper->truth.broken,
	       stepper->signals);
	if (stepper->misses.count > 0)
		qsort(stepper->misses.items, stepper->misses.count, sizeof(struct miss), by_count);
	for (size_t i = 0; i < stepper->misses.count; i++) {
		const struct miss *miss = &stepper->misses.items[i];
		const struct map_region *region = maps_find(&stepper->maps, miss->place);
		struct module_place place = {0};

		if (region && files)
			(void)module_files_identify(files, -1, region, &place);
		printf("miss %" PRIu64 " %s 0x%" PRIx64 " %s %s\n", miss->count,
		       region ? region->path : "-", miss->place - place.bias, miss->kind,
		       unwind_end_name(miss->end));
	}
	module_files_free(files);
}

static void step_through(struct stepper *stepper, uint64_t every, uint64_t most)
{
	size_t mapped = 0;

	if (registers_of_thread(stepper->pid, &stepper->now) < 0)
		die("registers");
	while (stepper->steps < most) {
		/* New code (a library that is loaded late) shows as a pc that no map has. */
		if (!maps_find(&stepper->maps, stepper->now.pc) && mapped++ < 100)
			learn_maps(stepper);
		compare_walk(stepper);
		if (!one_step(stepper, signal_due(stepper, every)))
			break;
	}
}

int main(int argc, char **argv)
{
	struct stepper stepper = {0};
	struct error err = {0};
	uint64_t every = 0;
	uint64_t most = 1000000;
	int option;

	while ((option = getopt(argc, argv, "s:n:")) >= 0) {
		if (option == '?')
			return 2;
		*(option == 's' ? &every : &most) = strtoull(optarg, NULL, 10);
	}
	if (optind + 1 != argc)
		return 2;
	start_program(&stepper, argv[optind]);
	if (wait_stop(&stepper) != SIGTRAP)
		die("exec");
	(void)ptrace(PTRACE_SETOPTIONS, stepper.pid, NULL, (void *)PTRACE_O_EXITKILL);
	stepper.unwinder = unwinder_new();
	stepper.code = calloc(CODE_SLOTS, sizeof(*stepper.code));
	stepper.copy = malloc(COPY_BYTES);
	if (!stepper.unwinder || !stepper.code || !stepper.copy)
		die("memory");
	uint64_t entry = entry_address(&stepper);

	run_to(&stepper, entry);
	if (unwinder_process_open(stepper.unwinder, stepper.pid, &stepper.process, &err) < 0) {
		fprintf(stderr, "stepper: %s\n", err.text);
		return 1;
	}
	learn_maps(&stepper);
	find_own_code(&stepper, entry);
	step_through(&stepper, every, most);
	print_results(&stepper);
	return 0;
}
