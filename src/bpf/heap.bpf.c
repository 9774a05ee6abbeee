/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap: programs at the functions of an allocator. A block is reported once it exists, with the
 * stack of its caller; its end is reported before it happens. Calls among an allocator's own
 * functions count once: the outermost call is the program's request.
 */

#include "bpf/arch/native.h"
#include "bpf/heap_records.h"
#include "bpf/heap_thread.h"
#include "bpf/kernel.h"
#include "bpf/take_stack.h"
#include "bpf/task_id.h"
#include "bpf/task_iterator.h"
#include "safe/exponential.h"
#include "wire/bpf_heap.h"

volatile uint32_t heap_phase = BPF_HEAP_COUNTING;
volatile uint32_t heap_pid = 0; /* the process whose address space is requested */

static __always_inline uint64_t heap_draw(void)
{
	uint64_t random = (uint64_t)bpf_get_prandom_u32() << 32;

	return exponential_step(heap_sample_bytes, random | bpf_get_prandom_u32());
}

static __always_inline bool heap_choose(struct heap_thread *thread)
{
	if (heap_sample_bytes == 0)
		return true;
	if (thread->left_bytes == 0)
		thread->left_bytes = heap_draw();
	if (thread->size < thread->left_bytes) {
		thread->left_bytes -= thread->size;
		return false;
	}
	thread->left_bytes = heap_draw();
	return true;
}

/* Reads what a call requests. */
static __always_inline void heap_read_call(const struct cpu_registers *ctx, uint32_t shape,
					   struct heap_thread *thread)
{
	uint64_t first = CPU_ARGUMENT_0(ctx);
	uint64_t second = CPU_ARGUMENT_1(ctx);
	uint64_t third = CPU_ARGUMENT_2(ctx);

	thread->block = first; /* if it is a block */
	switch (shape) {
	case BPF_HEAP_SIZE:
		thread->size = first;
		break;
	case BPF_HEAP_COUNT_SIZE:
		thread->size = first * second;
		break;
	case BPF_HEAP_OUT:
		thread->size = third;
		break;
	case BPF_HEAP_RESIZE_MANY:
		thread->size = second * third;
		break;
	default:
		thread->size = second;
	}
}

/* The state of a thread of the watched program, or NULL. */
static __always_inline struct heap_thread *heap_thread_of(struct task_struct *task)
{
	struct heap_thread *thread =
		bpf_task_storage_get(&heap_threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	uint64_t mm = (uint64_t)task->mm;

	if (!thread) {
		heap_count(BPF_HEAP_COUNT_UNTHREAD);
		return NULL;
	}
	if (thread->mm == 0)
		thread->mm = mm;
	return thread->mm == mm ? thread : NULL; /* after an exec */
}

/* A function begins. Returns whether its return is needed. */
static __noinline bool heap_enter(struct cpu_registers *ctx, uint64_t cookie)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	uint32_t shape = BPF_HEAP_SHAPE_OF(cookie);
	uint64_t return_address;
	struct heap_thread *thread;

	if (shape == BPF_HEAP_NOTHING)
		return BPF_HEAP_CALL_OF(cookie) != 0;
	if (heap_phase == BPF_HEAP_OVER)
		return false;
	heap_count(BPF_HEAP_COUNT_HITS);
	thread = heap_thread_of(task);
	return_address = registers_return_address(ctx);
	if (!thread || is_nested(thread, CPU_SP(ctx), return_address, BPF_HEAP_NUMBER_OF(cookie)))
		return false;
	thread->sp = CPU_SP(ctx);
	thread->return_address = return_address;
	thread->function = BPF_HEAP_NUMBER_OF(cookie);
	heap_count(shape == BPF_HEAP_FREE ? BPF_HEAP_COUNT_FREES : BPF_HEAP_COUNT_ALLOCATIONS);
	if (heap_phase == BPF_HEAP_COUNTING)
		return false;
	if (shape == BPF_HEAP_FREE) {
		if (heap_take_block(CPU_ARGUMENT_0(ctx)))
			heap_tell_end(ctx, BPF_HEAP_FREED, cookie, CPU_ARGUMENT_0(ctx));
		return false;
	}
	heap_read_call(ctx, shape, thread);
	thread->moved = (shape == BPF_HEAP_RESIZE || shape == BPF_HEAP_RESIZE_MANY) &&
			heap_take_block(thread->block);
	if (thread->moved)
		heap_tell_end(ctx, BPF_HEAP_MOVED, cookie, thread->block);
	thread->chosen = heap_choose(thread);
	thread->awaited = thread->chosen || thread->moved;
	return thread->awaited;
}

/* The function returns. */
static __always_inline void heap_leave(struct cpu_registers *ctx, uint64_t cookie)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct heap_thread *thread;
	uint64_t block = CPU_RESULT(ctx);

	if (BPF_HEAP_SHAPE_OF(cookie) == BPF_HEAP_NOTHING || heap_phase == BPF_HEAP_OVER)
		return;
	heap_count(BPF_HEAP_COUNT_RETURNS);
	thread = bpf_task_storage_get(&heap_threads, task, NULL, 0);
	if (!thread || !thread->awaited || thread->function != BPF_HEAP_NUMBER_OF(cookie) ||
	    thread->sp + CALL_BYTES != CPU_SP(ctx))
		return; /* part of another call */
	thread->awaited = false;
	if (BPF_HEAP_SHAPE_OF(cookie) == BPF_HEAP_OUT &&
	    (block != 0 || bpf_probe_read_user(&block, sizeof(block), (void *)thread->block) != 0))
		block = 0;
	if (block != 0) {
		if (thread->chosen && heap_keep_block(block))
			heap_tell_block(ctx, task, thread, block, BPF_HEAP_CALL_OF(cookie));
	} else if (thread->moved && thread->size > 0) {
		(void)heap_keep_block(thread->block); /* on failure its end is not reported */
		heap_tell_end(ctx, BPF_HEAP_KEPT, cookie, thread->block);
	}
}

/* Reports the address space of a process, before anything depends on it. */
SEC("iter/task")
int heap_space(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct seq_file *seq = ctx->meta->seq;
	struct bpf_walk_key key;

	if (!task || thread_id(task) != heap_pid)
		return 0;
	key_of(task, &key);
	key.tgid = (uint32_t)BPF_CORE_READ(task, tgid);
	bpf_seq_write(seq, &key, sizeof(key));
	return 0;
}

/* At entries and returns: the kernel reports a return if the entry returned 0. */
SEC("uprobe")
int heap_session(struct cpu_registers *ctx)
{
	uint64_t cookie = bpf_get_attach_cookie(ctx);

	if (CPU_PC(ctx) == bpf_get_func_ip(ctx))
		return heap_enter(ctx, cookie) ? 0 : 1;
	heap_leave(ctx, cookie);
	return 0;
}

/* The same for kernels before 6.13, which report all returns. */
SEC("uprobe")
int heap_entered(struct cpu_registers *ctx)
{
	(void)heap_enter(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("uretprobe")
int heap_returned(struct cpu_registers *ctx)
{
	heap_leave(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}
