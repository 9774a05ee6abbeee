/* SPDX-License-Identifier: BSD-2-Clause */

/* foreign_library: compiled for the CPU that this machine does not have; test_foreign reads it. */

long elsewhere(long x);
long foreign_leaf(long x);
long foreign_caller(long x);

long foreign_leaf(long x)
{
	return x * 3 + 1;
}

/* Saves registers, has a frame and calls through the PLT. */
long foreign_caller(long x)
{
	volatile long local[8];

	local[x & 7] = elsewhere(x);
	return local[0] + elsewhere(x + 1) + x;
}
