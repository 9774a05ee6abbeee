/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * simplest: loses 1024 bytes, and does nothing else that might overwrite what is left of the
 * pointer in registers and on the stack. It cannot say so itself for the same reason.
 */

#include <stdlib.h>

static void *pointer;

int main(void)
{
	pointer = malloc(1024);
	pointer = NULL;
	return 0;
}
