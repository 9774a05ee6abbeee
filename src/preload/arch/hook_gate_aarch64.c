/* SPDX-License-Identifier: BSD-2-Clause */
/* hook_gate: see hook_gate_x86_64.c for what it does. */
#include <stddef.h>

#include "preload/heap/hook.h"

_Static_assert(sizeof(struct hook_call) == 160 && offsetof(struct hook_call, target) == 136 &&
		       offsetof(struct hook_call, index) == 152,
	       "as below, from sp + 16 on");

#define KEEP                                                                                       \
	"stp x0, x1, [sp, #16]; stp x2, x3, [sp, #32]; stp x4, x5, [sp, #48]\n"                    \
	"stp x6, x7, [sp, #64]; stp x8, x9, [sp, #80]; stp x10, x11, [sp, #96]\n"                  \
	"stp x12, x13, [sp, #112]; stp x14, x15, [sp, #128]; str x18, [sp, #144]\n"
#define RESTORE                                                                                    \
	"ldp x0, x1, [sp, #16]; ldp x2, x3, [sp, #32]; ldp x4, x5, [sp, #48]\n"                    \
	"ldp x6, x7, [sp, #64]; ldp x8, x9, [sp, #80]; ldp x10, x11, [sp, #96]\n"                  \
	"ldp x12, x13, [sp, #112]; ldp x14, x15, [sp, #128]; ldr x18, [sp, #144]\n"

/* The stub has put the index into x16. */
__asm__(".text\n.p2align 4\n"
	".globl hook_gate\n.hidden hook_gate\n.type hook_gate, %function\n"
	"hook_gate:\n"
	".cfi_startproc\n"
	"stp x29, x30, [sp, #-176]!\n"
	".cfi_def_cfa_offset 176\n.cfi_offset x29, -176\n.cfi_offset x30, -168\n"
	"mov x29, sp\n"
	".cfi_def_cfa_register x29\n"
	"str x16, [sp, #168]\n" KEEP "add x0, sp, #16; mov x1, x29\n"
	"bl hook_before\n"
	"tbz w0, #0, 1f\n" RESTORE "ldr x17, [sp, #152]\n"
	"ldp x16, x30, [x29, #192]; stp x16, x30, [sp, #-16]!\n"
	"ldp x16, x30, [x29, #176]; stp x16, x30, [sp, #-16]!\n"
	"blr x17\n"
	"mov sp, x29\n" KEEP "add x0, sp, #16; mov x1, x29\n"
	"bl hook_after\n" RESTORE ".cfi_remember_state\n"
	"ldp x29, x30, [sp], #176\n"
	".cfi_def_cfa sp, 0\n.cfi_restore x29\n.cfi_restore x30\n"
	"ret\n"
	".cfi_restore_state\n"
	"1:\n" RESTORE "ldr x17, [sp, #152]\n"
	"ldp x29, x30, [sp], #176\n"
	".cfi_def_cfa sp, 0\n.cfi_restore x29\n.cfi_restore x30\n"
	"br x17\n"
	".cfi_endproc\n"
	".size hook_gate, .-hook_gate\n"
	".globl hook_gate_end\n.hidden hook_gate_end\n"
	"hook_gate_end:\n");
