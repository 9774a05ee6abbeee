/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * forbid ERRNO COMMAND|all|timers PROGRAM [ARGUMENTS]: runs PROGRAM where bpf(COMMAND),
 * any bpf(), or timer_create(), fails with ERRNO.
 */

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))

int main(int argc, char **argv)
{
	unsigned int code = argc > 3 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	unsigned int command = argc > 3 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	int timers = argc > 3 && strcmp(argv[2], "timers") == 0;
	int any = timers || (argc > 3 && strcmp(argv[2], "all") == 0);
	struct sock_filter filter[] = {
		LOAD(nr),
		SKIP_UNLESS(timers ? SYS_timer_create : SYS_bpf, any ? 1 : 3),
		/* Of any command the argument is not looked at: this answers at once. */
		any ? (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code)
		    : (struct sock_filter)LOAD(args[0]),
		SKIP_UNLESS(any ? 0 : command, any ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, any ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (argc < 4) {
		fprintf(stderr, "usage: forbid ERRNO COMMAND|all|timers PROGRAM [ARGUMENTS]\n");
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("forbid");
		return 1;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
