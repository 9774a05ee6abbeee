/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_PYTHON_H
#define WICK_LANGUAGE_PYTHON_PYTHON_H

/* python: the reader for CPython 3.9 to 3.14, an entry of language_table. */

struct language_ops;

extern const struct language_ops python_language;

#endif
