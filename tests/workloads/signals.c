/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * signals catch MS	exits with 42 on SIGTERM, 43 on SIGINT, 0 after MS
 * signals die NUMBER	dies of that signal
 * signals exit STATUS
 */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

static void on_signal(int number)
{
	_exit(number == SIGTERM ? 42 : 43);
}

static NOINLINE void wait_for_signal(uint64_t ns)
{
	(void)burn_until(CLOCK_MONOTONIC, clock_now_ns(CLOCK_MONOTONIC) + ns);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	const char *mode = argc > 1 ? argv[1] : "catch";
	uint64_t value = argument(argc, argv, 2, 1000);

	if (strcmp(mode, "exit") == 0)
		return (int)value;
	if (strcmp(mode, "die") == 0) {
		(void)signal((int)value, SIG_DFL);
		(void)raise((int)value);
		return 1;
	}
	if (sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGINT, &action, NULL) != 0)
		abort();
	printf("ready\n");
	(void)fflush(stdout); /* the test waits for this line */
	wait_for_signal(value * NS_PER_MS);
	return 0;
}
