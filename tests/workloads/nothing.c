/* SPDX-License-Identifier: BSD-2-Clause */

/* Does nothing, and allocates nothing. */

int main(void)
{
	return 0;
}
