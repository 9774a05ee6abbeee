/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * forbid ERRNO|kill COMMAND|SET PROGRAM [ARGUMENTS]: runs PROGRAM where bpf(COMMAND), or each of
 * a set of calls, fails with ERRNO, or kills whoever calls it.
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

#define MAX_FILTER 16
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))

static const struct {
	const char *name;
	int calls[5]; /* 0 last: io_setup() is none of them */
} sets[] = {
	{"all", {SYS_bpf}},
	{"timers", {SYS_timer_create}},
	{"sandbox", {SYS_perf_event_open, SYS_bpf, SYS_ptrace, SYS_process_vm_readv}},
	{"perf", {SYS_perf_event_open}},
	{"pidfd", {SYS_pidfd_open}},
};

/* Returns the number of instructions. */
static unsigned short make_filter(struct sock_filter *filter, const char *what, unsigned int answer)
{
	unsigned short n = 0;

	filter[n++] = (struct sock_filter)LOAD(nr);
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		for (int j = 0; strcmp(what, sets[i].name) == 0 && sets[i].calls[j] != 0; j++) {
			filter[n++] =
				(struct sock_filter)SKIP_UNLESS((unsigned int)sets[i].calls[j], 1);
			filter[n++] = (struct sock_filter)RETURN(answer);
		}
	if (n == 1) { /* one command of bpf() */
		filter[n++] = (struct sock_filter)SKIP_UNLESS(SYS_bpf, 3);
		filter[n++] = (struct sock_filter)LOAD(args[0]);
		filter[n++] =
			(struct sock_filter)SKIP_UNLESS((unsigned int)strtoul(what, NULL, 10), 1);
		filter[n++] = (struct sock_filter)RETURN(answer);
	}
	filter[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	return n;
}

int main(int argc, char **argv)
{
	struct sock_filter filter[MAX_FILTER];
	struct sock_fprog program = {.filter = filter};

	if (argc < 4) {
		fprintf(stderr, "usage: forbid ERRNO|kill COMMAND|all|timers|sandbox|perf|pidfd "
				"PROGRAM [ARGUMENTS]\n");
		return 2;
	}
	program.len =
		make_filter(filter, argv[2],
			    strcmp(argv[1], "kill") == 0
				    ? SECCOMP_RET_KILL_PROCESS
				    : SECCOMP_RET_ERRNO | (unsigned int)strtoul(argv[1], NULL, 10));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("forbid");
		return 1;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
