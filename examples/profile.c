/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Where does a process spend its time? Samples it for a second, draws a flame graph and
 * prints the ten functions that cost most:
 *
 *	cc profile.c $(pkg-config --cflags --libs libwick)
 *	./a.out $(pidof app) flame.svg
 */

#include <stdio.h>
#include <stdlib.h>

#include <wick/profile.h>

int main(int argc, char **argv)
{
	struct wick_record_options options = {.size = sizeof(options), .duration_ns = 1000000000};
	struct wick_profile_function row = {.size = sizeof(row)};
	struct wick_functions *functions = NULL;
	struct wick_profile *profile = NULL;
	struct wick_error err;
	int r = -1;

	if (argc != 3) {
		fprintf(stderr, "usage: %s PID OUT.svg\n", argv[0]);
		return 2;
	}
	if (wick_profile_process((pid_t)strtol(argv[1], NULL, 10), &options, &profile, &err) == 0 &&
	    wick_flame_svg(profile, NULL, argv[2], &err) == 0)
		r = wick_functions_new(profile, WICK_MAIN_VALUE, &functions, &err);
	if (r < 0)
		fprintf(stderr, "%s\n%s\n", err.text, err.remedy);
	for (size_t i = 0; r == 0 && i < 10 && wick_functions_get(functions, i, &row) == 0; i++)
		printf("%8.1f ms  %s (%s)\n", (double)row.self / 1e6, row.name, row.module);
	wick_functions_free(functions);
	wick_profile_free(profile);
	return r < 0;
}
