/* SPDX-License-Identifier: BSD-2-Clause */

/* A library to load and unload while a test looks on. */

__attribute__((visibility("default"))) int tiny_function(int value);

int tiny_function(int value)
{
	return value * 2 + 1;
}
