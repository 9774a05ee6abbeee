/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMIT_H
#define WICK_CLI_COMMIT_H

/* commit: the commit that wick was built from. A separate file, because it changes often. */

extern const char *const commit_built_from;

#endif
