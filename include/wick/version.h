/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VERSION_H
#define WICK_VERSION_H

/* version: which libwick this is, for programs that load it at run time. */

#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "MAJOR.MINOR.PATCH" of the loaded library. */
WICK_API const char *wick_version(void);

#ifdef __cplusplus
}
#endif

#endif
