/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls itself by a title in the place of its arguments, as servers do, and spins for some
 * milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
	size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
	double seconds = argc > 1 ? atof(argv[1]) / 1000 : 1;
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	char title[] = "titled: worker process --secret=1";

	if (room < sizeof(title))
		return 1;
	memset(argv[0], 0, room);
	memcpy(argv[0], title, sizeof(title));
	puts("ready");
	(void)fflush(stdout);
	while (clock() < end)
		;
	return 0;
}
