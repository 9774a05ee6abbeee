/* SPDX-License-Identifier: BSD-2-Clause */
#include <signal.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/table.h"

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * A write to a closed pipe shall fail instead of killing a recorder that still
 * has a file to finish. A handler does that where SIG_IGN would be inherited by
 * the programs we start.
 */
static void survive_broken_pipes(void)
{
	struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
	struct sigaction old;

	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(SIGPIPE, &action, NULL); /* cannot fail for a valid signal */
}

int main(int argc, char **argv)
{
	survive_broken_pipes();
	return command_main(command_table, argc, argv, stdout, stderr);
}
