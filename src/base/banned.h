/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_BANNED_H
#define WICK_BASE_BANNED_H

/*
 * banned: functions with no bound, no error or hidden state. The build includes this header before
 * each of our files, after the system headers it needs, so that using them is a compile error.
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
