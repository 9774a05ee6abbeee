/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Which blocks did a program lose? Lists the leaks of a recording with the stacks that
 * allocated them, and ends with status 1 when there are any:
 *
 *	cc find_leaks.c -o find_leaks $(pkg-config --cflags --libs libwick)
 *	wick heap --leaks -o app.wick -- ./app
 *	./find_leaks app.wick
 */

#include <inttypes.h>
#include <stdio.h>

#include <wick/leaks.h>

static void print_stack(const struct wick_leak_stack *stack)
{
	for (size_t i = stack->frame_count; i-- > 0;)
		printf("      %s  %s:%" PRIu32 "\n", stack->frames[i].function,
		       stack->frames[i].file, stack->frames[i].line);
}

int main(int argc, char **argv)
{
	struct wick_leaks_info info = {.size = sizeof(info)};
	struct wick_leak_stack stack = {.size = sizeof(stack)};
	struct wick_leak leak = {.size = sizeof(leak)};
	struct wick_leaks *leaks;
	struct wick_error err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s RECORDING\n", argv[0]);
		return 2;
	}
	if (wick_detect_leaks(argv[1], NULL, &leaks, &err) < 0) {
		fprintf(stderr, "%s\n%s\n", err.text, err.remedy);
		return 2;
	}
	wick_leaks_describe(leaks, &info, NULL);
	printf("%" PRIu64 " bytes are lost\n", info.lost_bytes);
	for (size_t i = 0; wick_leaks_get(leaks, i, &leak) == 0; i++) {
		printf("  %s (%.2f): %" PRIu64 " bytes in %" PRIu64 " blocks: %s\n",
		       leak.class_name, leak.confidence, leak.bytes, leak.blocks, leak.evidence);
		if (wick_leaks_stack(leaks, i, 0, &stack) == 0)
			print_stack(&stack);
	}
	wick_leaks_free(leaks);
	return info.lost_bytes > 0;
}
