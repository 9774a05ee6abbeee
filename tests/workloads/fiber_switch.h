/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_FIBER_SWITCH_H
#define WICK_TESTS_FIBER_SWITCH_H

/*
 * fiber_switch: functions that run on stacks of their own, by the C library's contexts or by a
 * switch that is written by hand, as libraries for fibers have it.
 */

#include <cstdint>
#include <cstdlib>
#include <ucontext.h>

/* Keeps what a function must keep, and goes on where `to` was left. */
extern "C" void fiber_switch(void **ret_from, void *to);
extern "C" void fiber_first();

#if defined(__x86_64__)
static constexpr int FIBER_WORDS = 8; /* registers, where to go on, and one for the alignment */
static constexpr int FIBER_PC = 6;
__asm__(".text\n.globl fiber_switch\n.type fiber_switch, @function\n"
	"fiber_switch:\n"
	"push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, (%rdi); mov %rsi, %rsp\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"ret\n"
	".size fiber_switch, .-fiber_switch\n");
#else
static constexpr int FIBER_WORDS = 20;
static constexpr int FIBER_PC = 11; /* x30 */
__asm__(".text\n.globl fiber_switch\n.type fiber_switch, %function\n"
	"fiber_switch:\n"
	"sub sp, sp, #160\n"
	"stp x19, x20, [sp]; stp x21, x22, [sp, #16]; stp x23, x24, [sp, #32]\n"
	"stp x25, x26, [sp, #48]; stp x27, x28, [sp, #64]; stp x29, x30, [sp, #80]\n"
	"stp d8, d9, [sp, #96]; stp d10, d11, [sp, #112]\n"
	"stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]\n"
	"mov x9, sp; str x9, [x0]; mov sp, x1\n"
	"ldp x19, x20, [sp]; ldp x21, x22, [sp, #16]; ldp x23, x24, [sp, #32]\n"
	"ldp x25, x26, [sp, #48]; ldp x27, x28, [sp, #64]; ldp x29, x30, [sp, #80]\n"
	"ldp d8, d9, [sp, #96]; ldp d10, d11, [sp, #112]\n"
	"ldp d12, d13, [sp, #128]; ldp d14, d15, [sp, #144]\n"
	"add sp, sp, #160\n"
	"ret\n"
	".size fiber_switch, .-fiber_switch\n");
#endif

struct fiber {
	bool by_hand;
	void (*run)(void *argument);
	void *argument;
	bool ended;
	ucontext_t context;
	ucontext_t caller;
	void *sp;
	void *caller_sp;
};

static thread_local fiber *fiber_now;

/* Back to who let the fiber go on. */
static void fiber_yield()
{
	fiber *self = fiber_now;

	if (self->by_hand)
		fiber_switch(&self->sp, self->caller_sp);
	else if (swapcontext(&self->context, &self->caller) < 0)
		abort();
}

/* The first function on a stack; nobody comes back to it once it has run. */
extern "C" void fiber_first()
{
	fiber_now->run(fiber_now->argument);
	fiber_now->ended = true;
	fiber_yield();
	abort();
}

static void fiber_make(fiber *self, void *stack, std::size_t bytes)
{
	void **top = reinterpret_cast<void **>(static_cast<char *>(stack) + bytes);

	self->ended = false;
	if (self->by_hand) {
		top -= FIBER_WORDS;
		for (int i = 0; i < FIBER_WORDS; i++)
			top[i] = nullptr;
		top[FIBER_PC] = reinterpret_cast<void *>(fiber_first);
		self->sp = top;
		return;
	}
	if (getcontext(&self->context) < 0)
		abort();
	self->context.uc_stack.ss_sp = stack;
	self->context.uc_stack.ss_size = bytes;
	self->context.uc_link = nullptr;
	makecontext(&self->context, fiber_first, 0);
}

/* Lets a fiber go on until it yields or ends. */
static void fiber_resume(fiber *self)
{
	fiber *before = fiber_now;

	fiber_now = self;
	if (self->by_hand)
		fiber_switch(&self->caller_sp, self->sp);
	else if (swapcontext(&self->caller, &self->context) < 0)
		abort();
	fiber_now = before;
}

#endif
