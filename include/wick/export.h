/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_H
#define WICK_EXPORT_H

/* export: marks the functions that libwick exports. No other symbol is visible. */

#define WICK_API __attribute__((visibility("default")))

#endif
