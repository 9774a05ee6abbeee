/* SPDX-License-Identifier: BSD-2-Clause */

/* narrow: spins for ever, as a 32-bit program without any library. */

void _start(void);

static __attribute__((noinline)) void narrow_spin(volatile unsigned int *count)
{
	for (;;)
		(*count)++;
}

void _start(void)
{
	volatile unsigned int count = 0;

	narrow_spin(&count);
}
