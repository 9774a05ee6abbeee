/* SPDX-License-Identifier: BSD-2-Clause */

/* A plug-in of another time: wick must not touch more of it than its version. */

#include <wick/plugin.h>

WICK_PLUGIN_EXPORT const struct wick_plugin wick_plugin = {.abi = WICK_PLUGIN_ABI + 41};
