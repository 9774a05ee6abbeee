/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PYTHON_CALLS_H
#define WICK_ENGINE_PYTHON_CALLS_H

/* python_calls: what engines report about the calls of interpreters. */

struct engine_python_stats;
struct interpreters;

/* All are 0 without interpreters (NULL). */
void python_calls_stats(struct interpreters *interpreters, struct engine_python_stats *ret);

#endif
