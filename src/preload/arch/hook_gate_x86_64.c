/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hook_gate: the target of all hook stubs. Saves all registers that a function may change, calls
 * hook_before(), and jumps to the function, or calls it and then hook_after(). A called function
 * receives copies of its stack arguments.
 *
 * Its frame and CFI allow stacks to be unwound through it. struct hook_call is the layout of the
 * frame.
 */
#include <stddef.h>

#include "preload/heap/hook.h"

_Static_assert(sizeof(struct hook_call) == 112 && offsetof(struct hook_call, result) == 48 &&
		       offsetof(struct hook_call, target) == 72,
	       "as below");

/* The stub has pushed rbp and the index, and rbp is set. */
#define KEEP                                                                                       \
	"mov %rdi, (%rsp); mov %rsi, 8(%rsp); mov %rdx, 16(%rsp); mov %rcx, 24(%rsp)\n"            \
	"mov %r8, 32(%rsp); mov %r9, 40(%rsp); mov %rax, 48(%rsp); mov %r10, 56(%rsp)\n"           \
	"mov %r11, 64(%rsp)\n"
#define RESTORE                                                                                    \
	"mov (%rsp), %rdi; mov 8(%rsp), %rsi; mov 16(%rsp), %rdx; mov 24(%rsp), %rcx\n"            \
	"mov 32(%rsp), %r8; mov 40(%rsp), %r9; mov 48(%rsp), %rax; mov 56(%rsp), %r10\n"           \
	"mov 64(%rsp), %r11\n"

__asm__(".text\n.p2align 4\n"
	".globl hook_gate\n.hidden hook_gate\n.type hook_gate, @function\n"
	"hook_gate:\n"
	".cfi_startproc\n.cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16\n"
	"lea -112(%rbp), %rsp\n" KEEP "mov %rsp, %rdi; mov %rbp, %rsi\n"
	"call hook_before\n"
	"test %al, %al\n"
	"je 1f\n" RESTORE "push 56(%rbp); push 48(%rbp); push 40(%rbp)\n"
	"push 32(%rbp); push 24(%rbp); push 16(%rbp)\n"
	"call *-40(%rbp)\n"
	"lea -112(%rbp), %rsp\n" KEEP "mov %rsp, %rdi; mov %rbp, %rsi\n"
	"call hook_after\n" RESTORE "mov %rbp, %rsp; pop %rbp\n"
	".cfi_remember_state\n.cfi_def_cfa rsp, 8\n"
	"ret\n"
	".cfi_restore_state\n"
	/* Jumps to the function, with its own caller on top of the stack. */
	"1: mov -40(%rbp), %rax; mov (%rbp), %rcx; mov %rcx, -8(%rbp); mov %rax, (%rbp)\n" RESTORE
	"lea -8(%rbp), %rsp; pop %rbp\n"
	"ret\n"
	".cfi_endproc\n"
	".size hook_gate, .-hook_gate\n"
	".globl hook_gate_end\n.hidden hook_gate_end\n"
	"hook_gate_end:\n");
