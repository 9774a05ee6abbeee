/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_EXPRESSION_H
#define WICK_BASE_EXPRESSION_H

/*
 * expression: POSIX extended regular expressions from people and from clients.
 *
 * The C library copies whatever is repeated, so a few nested repetitions take gigabytes. Such
 * expressions are refused.
 */

#include <regex.h>

#define EXPRESSION_REASON 128

/*
 * Compiles an expression for matching without groups; the caller frees it with regfree(). Returns
 * 0, or -EINVAL with the reason.
 */
int expression_compile(regex_t *expression, const char *text, char ret_reason[EXPRESSION_REASON]);

#endif
