/* SPDX-License-Identifier: BSD-2-Clause */

/* short [STATUS]: ends at once. */

#include "burn.h"

int main(int argc, char **argv)
{
	return (int)argument(argc, argv, 1, 0);
}
