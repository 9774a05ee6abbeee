/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMIT_H
#define WICK_CLI_COMMIT_H

/* commit: what wick was built from. A file of its own, for it changes with each build. */

extern const char *const commit_built_from;

#endif
