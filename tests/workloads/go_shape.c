/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * go_shape [MS]: MS of CPU time in functions with frames as those of Go programs, and
 * described as they are: by .gopclntab alone. Half of it is spent in go_burn() under
 * go_clock(), which runs it on another stack.
 */

#include "burn.h"

#define OTHER_STACK_BYTES 4096
#define ITERATIONS 200000

void go_top(uint64_t iterations, void *other_stack);

/*
 * Frames of aarch64 have lr at their lowest address and fp below it, where no ABI has
 * it. The numbers are the changes of sp that the table tells, zigzag.
 */
/* clang-format off */
#if defined(__aarch64__)
#define STEP "4"
#define DEEP_48 "96"
#define SHALLOW "95"
#define BURN \
	"\tmov x2, x0\n" \
	"1:\tsubs x2, x2, #1\n" \
	"\tb.ne 1b\n" \
	"\tret\n"
#define ENTER(to) "\tstr x30, [sp, #-48]!\n" to ":\tstur x29, [sp, #-8]\n\tsub x29, sp, #8\n"
#define LEAVE(to) "\tldur x29, [sp, #-8]\n\tldr x30, [sp], #48\n" to ":\tret\n"
#define SAVE_OF_C "\tstp x29, x30, [sp, #-32]!\n\tstr x20, [sp, #16]\n"
#define RESTORE_OF_C "\tldr x20, [sp, #16]\n\tldp x29, x30, [sp], #32\n\tret\n"
#define CALL(name) "\tbl " name "\n"
#define CHANGE_STACK "\tmov x20, sp\n\tmov sp, x1\n"
#define STACK_BACK "\tmov sp, x20\n"
#else
#define STEP "1"
#define DEEP_48 "96"
#define SHALLOW "95"
#define BURN \
	"\tmov %rdi, %rcx\n" \
	"1:\tdec %rcx\n" \
	"\tjne 1b\n" \
	"\tret\n"
#define ENTER(to) "\tsub $48, %rsp\n" to ":\tmov %rbp, 40(%rsp)\n\tlea 40(%rsp), %rbp\n"
#define LEAVE(to) "\tmov 40(%rsp), %rbp\n\tadd $48, %rsp\n" to ":\tret\n"
#define SAVE_OF_C "\tpush %rbp\n\tpush %r12\n\tsub $8, %rsp\n"
#define RESTORE_OF_C "\tadd $8, %rsp\n\tpop %r12\n\tpop %rbp\n\tret\n"
#define CALL(name) "\tcall " name "\n"
#define CHANGE_STACK "\tmov %rsp, %r12\n\tmov %rsi, %rsp\n"
#define STACK_BACK "\tmov %r12, %rsp\n"
#endif

#define BEGIN(name) ".globl " name "\n.type " name ", %function\n.p2align 4\n" name ":\n"
#define END(name) ".size " name ", . - " name "\n"
/* What a function has in the table: start, name …, depths, …, flags. */
#define DESCRIBE(name, depths, flags) \
	name "_is:\n\t.long " name " - go_text, 0, 0, 0, " depths ", 0, 0, 0, 0, 0\n" \
	"\t.byte 0, " flags ", 0, 0\n"
#define ENTRY(name) "\t.long " name " - go_text, " name "_is - go_functab\n"
#define DEPTHS(name) \
	name "_depths:\t.byte 2\n\t.uleb128 (" name "_in - " name ") / " STEP "\n" \
	"\t.byte " DEEP_48 "\n\t.uleb128 (" name "_out - " name "_in) / " STEP "\n" \
	"\t.byte " SHALLOW ", 32, 0\n"

__asm__(".text\n.p2align 4\ngo_text:\n"
	BEGIN("go_burn") BURN END("go_burn")
	BEGIN("go_clock") ENTER("go_clock_in") CHANGE_STACK CALL("go_burn") STACK_BACK
		LEAVE("go_clock_out") END("go_clock")
	BEGIN("go_middle") ENTER("go_middle_in") CALL("go_burn") CALL("go_clock")
		LEAVE("go_middle_out") END("go_middle")
	BEGIN("go_outer") ENTER("go_outer_in") CALL("go_middle") LEAVE("go_outer_out") END("go_outer")
	BEGIN("go_top") SAVE_OF_C CALL("go_outer") RESTORE_OF_C END("go_top")
	"go_end:\n"
	".section .gopclntab, \"aw\", %progbits\n.p2align 5\n"
	"go_table:\t.long 0xfffffff1\n\t.byte 0, 0, " STEP ", 8\n"
	"\t.quad 5, 0, go_text, 1, 1, 1, go_values - go_table, go_functab - go_table\n"
	"go_values:\t.byte 0\n"
	"go_burn_depths:\t.byte 2, 32, 0\n"
	DEPTHS("go_clock") DEPTHS("go_middle") DEPTHS("go_outer")
	"\t.p2align 3\n"
	"go_functab:\n"
	ENTRY("go_burn") ENTRY("go_clock") ENTRY("go_middle") ENTRY("go_outer") ENTRY("go_top")
	"\t.long go_end - go_text\n"
	DESCRIBE("go_burn", "go_burn_depths - go_values", "0")
	DESCRIBE("go_clock", "go_clock_depths - go_values", "2") /* changes the stack */
	DESCRIBE("go_middle", "go_middle_depths - go_values", "0")
	DESCRIBE("go_outer", "go_outer_depths - go_values", "0")
	DESCRIBE("go_top", "go_burn_depths - go_values", "1") /* the root */
	".text\n");
/* clang-format on */

int main(int argc, char **argv)
{
	static _Alignas(16) uint8_t other_stack[OTHER_STACK_BYTES];
	uint64_t end_ns =
		clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) + argument(argc, argv, 1, 500) * NS_PER_MS;

	while (clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		go_top(ITERATIONS, other_stack + sizeof(other_stack));
	printf("{\"cpu_ns\": %llu}\n", (unsigned long long)clock_now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
