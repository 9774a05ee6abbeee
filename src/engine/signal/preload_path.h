/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PRELOAD_PATH_H
#define WICK_ENGINE_SIGNAL_PRELOAD_PATH_H

/* preload_path: where the library is that runs inside programs, and which take it. */

#include <stdbool.h>
#include <stddef.h>

struct elf_file;
struct error;

/*
 * Beside this program (or libwick), where the build puts it; where it lies from there in a
 * tree that was unpacked anywhere; or where it was installed.
 */
int preload_path(char *ret, size_t size, struct error *err);

/* The file that a program would be run from, as execvp() finds it. */
bool preload_find_program(const char *program, char *ret, size_t size);

/* The loader that a program asks for; "" for none: it is linked statically. */
void preload_interpreter(struct elf_file *elf, char *ret, size_t size);

/*
 * Whether the loader will put the library into a program, as it would be found on
 * PATH. Programs that are linked statically, run with raised rights or by another C
 * library refuse it: -EOPNOTSUPP, and which engine to use. Scripts and what cannot be
 * looked at pass: 0.
 */
int preload_check(const char *program, struct error *err);

/* Whether a program, as it would be found on PATH, has more rights than who starts it. */
bool preload_has_rights(const char *program);

#endif
