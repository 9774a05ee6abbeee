/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_SHORT_NAME_H
#define WICK_LOAD_NAMES_SHORT_NAME_H

/*
 * short_name: a C++ or Rust name without arguments and template parameters: "std::map<int,
 * long>::find(int const&) const" becomes "std::map<>::find". Operators keep their brackets, and so
 * do names of languages that use brackets differently, such as Go's main.(*Server).Serve: the
 * function itself is never removed. The caller frees the result; NULL: the name is already short,
 * or out of memory.
 */
char *short_name(const char *name);

#endif
