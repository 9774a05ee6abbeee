/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_SHORT_NAME_H
#define WICK_LOAD_NAMES_SHORT_NAME_H

/*
 * short_name: a C++ or Rust name without arguments and template parameters:
 * "std::map<int, long>::find(int const&) const" becomes "std::map<>::find".
 * Operators keep their own brackets, and so do names of languages that have them elsewhere, as
 * main.(*Server).Serve of Go: the function itself is never left out. The caller frees the result;
 * NULL when the name is short already or there is no memory.
 */
char *short_name(const char *name);

#endif
