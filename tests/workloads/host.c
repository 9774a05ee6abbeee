/* SPDX-License-Identifier: BSD-2-Clause */
/* host FILE NAME ...: a program that is not C++ runs a function of a part that may be. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *part = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = part ? dlsym(part, argv[2]) : NULL;
	int (*function)(int, char **);

	if (!symbol) {
		(void)fprintf(stderr, "host: no such function\n");
		return 2;
	}
	memcpy(&function, &symbol, sizeof(function));
	return function(argc - 2, argv + 2);
}
