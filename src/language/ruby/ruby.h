/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_RUBY_RUBY_H
#define WICK_LANGUAGE_RUBY_RUBY_H

/* ruby: the reader for Ruby 3.1, an entry of language_table. */

struct language_ops;

extern const struct language_ops ruby_language;

#endif
