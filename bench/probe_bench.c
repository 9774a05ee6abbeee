/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * probe_bench PID entries|returns: what the kernel itself takes for probes at the places where
 * "wick heap -p" has them. The program of these probes does nothing. With "returns", functions that
 * allocate are probed at their return, too. Prints a line once they are there and removes them when
 * standard input ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include <bpf/bpf.h>

#include "base/error.h"
#include "base/vec.h"
#include "engine/ebpf/heap_probes.h"
#include "engine/uprobe/allocator.h"

/* A program that returns what the probe passes to it: 0 if the return is needed, too. */
static int load_program(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_attach_cookie},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)HEAP_SESSION_ATTACH_TYPE);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "nothing", "GPL", code, ARRAY_SIZE(code),
			     &options);
}

int main(int argc, char **argv)
{
	static struct allocator allocator;
	struct heap_places places = {allocator.path, allocator.probes, 0};
	struct error err = {0};
	bool returns = argc > 2 && strcmp(argv[2], "returns") == 0;
	pid_t pid = argc > 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	int program, link;
	char byte;

	if (pid <= 0 || allocator_find(pid, NULL, &allocator, &err) < 0) {
		(void)fprintf(stderr, "usage: probe_bench PID entries|returns %s\n", err.text);
		return 2;
	}
	for (uint32_t i = 0; i < allocator.count; i++)
		allocator.probes[i].cookie =
			!returns || BPF_HEAP_SHAPE_OF(allocator.probes[i].cookie) == BPF_HEAP_FREE;
	places.count = allocator.count;
	program = load_program();
	link = program < 0 ? program : heap_session_open(program, &places, pid);
	if (link < 0) {
		(void)fprintf(stderr, "probe_bench: %s\n", strerror(-link));
		return 1;
	}
	(void)puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
