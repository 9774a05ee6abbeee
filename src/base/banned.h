/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_BANNED_H
#define WICK_BASE_BANNED_H

/*
 * banned: functions that write without a bound, report no errors or have hidden state. The build
 * includes this header before each of our files, after the system headers that it needs, so that a
 * use of these functions is a compile error.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef strcpy
#undef strcat
#undef sprintf
#undef strtok
#undef atoi
#undef gmtime
#undef localtime
#pragma GCC poison strcpy strcat sprintf strtok atoi gmtime localtime

#endif
