/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commit.h"

const char *const commit_built_from = WICK_COMMIT;
