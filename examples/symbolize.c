/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Where is this? Prints function, file and line of addresses of a program:
 *
 *	cc symbolize.c -lwick
 *	./a.out /usr/bin/app 401136 401200
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <wick/symbolize.h>

int main(int argc, char **argv)
{
	struct wick_symbolizer *symbolizer;
	struct wick_error err;

	if (argc < 3) {
		fprintf(stderr, "usage: %s FILE ADDRESS...\n", argv[0]);
		return 2;
	}
	if (wick_symbolizer_open_file(argv[1], 0, NULL, &symbolizer, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (int i = 2; i < argc; i++) {
		struct wick_symbol symbol;

		if (wick_symbolize(symbolizer, strtoull(argv[i], NULL, 16), &symbol) < 0)
			return 1;
		printf("%#" PRIx64 "\n", symbol.address);
		for (uint32_t k = 0; k < symbol.frame_count; k++)
			printf("  %s %s:%" PRIu32 "%s\n", symbol.frames[k].function,
			       symbol.frames[k].file ? symbol.frames[k].file : "??",
			       symbol.frames[k].line, symbol.frames[k].inlined ? " (inlined)" : "");
	}
	wick_symbolizer_close(symbolizer);
	return 0;
}
