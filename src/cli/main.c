/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/table.h"
#include "proc/own_program.h"

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * A write to a closed pipe, or beyond the limit for file sizes, must fail instead of killing a
 * recorder that still has a file to finish. We use a handler because programs that we start would
 * inherit SIG_IGN.
 */
static void survive_failing_writes(void)
{
	static const int signals[] = {SIGPIPE, SIGXFSZ};
	struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
	struct sigaction old;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &action, NULL); /* cannot fail for these */
}

/*
 * If a standard stream is closed, the next file that we open would get its number, and output for
 * the stream would end up in that file. So we open placeholders, which fail like a closed stream;
 * programs that we start find the stream closed as before.
 */
static void occupy_closed_streams(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0) /* the lowest free number is this one */
			(void)open("/dev/null",
				   (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/*
 * We allocate and free large arrays one after the other: a recording, its stacks, the tree to draw.
 * Each should get its own mapping, which is returned when freed. By default malloc() soon takes
 * them from its heap, where freed ones cause fragmentation: 199 MB instead of 138 for a flame graph
 * of 2 M nodes.
 */
static void give_large_memory_back(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20); /* not essential */
}

/*
 * A setuid wick would let anybody write any file (-o), and would run tools from the caller's PATH.
 * Capabilities on the binary allow neither: files are opened with the caller's rights, and programs
 * that wick starts do not inherit the capabilities.
 */
static bool is_setuid(void)
{
	char command[PATH_MAX + 100];

	if (geteuid() == getuid() && getegid() == getgid())
		return false;
	(void)fprintf(stderr,
		      "wick: this binary is setuid or setgid, which would give everybody the "
		      "rights of its "
		      "owner; wick refuses to run\n      run chmod ug-s on it, and: %s\n",
		      own_program_grant(OWN_PROGRAM_ALL, command, sizeof(command)));
	return true;
}

int main(int argc, char **argv)
{
	if (is_setuid())
		return COMMAND_FAILED;
	give_large_memory_back();
	occupy_closed_streams();
	survive_failing_writes();
	return command_main(command_table, argc, argv, stdout, stderr);
}
