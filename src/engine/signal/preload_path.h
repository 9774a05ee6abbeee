/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PRELOAD_PATH_H
#define WICK_ENGINE_SIGNAL_PRELOAD_PATH_H

/* preload_path: where the preload library is, and which programs can load it. */

#include <stdbool.h>
#include <stddef.h>

struct elf_file;
struct error;

/*
 * Finds the library beside this program (or libwick), where the build puts it; relative to it in an
 * unpacked installation tree; or where it was installed.
 */
int preload_path(char *ret, size_t size, struct error *err);

/* Finds the file of a program as execvp() does. */
bool preload_find_program(const char *program, char *ret, size_t size);

/* The dynamic loader of a program; "": none, it is linked statically. */
void preload_interpreter(struct elf_file *elf, char *ret, size_t size);

/*
 * Checks whether the loader will load the library into a program, which is searched on PATH. It
 * will not if the program is linked statically, runs with raised privileges or uses another C
 * library: -EOPNOTSUPP, with an alternative engine in err. Scripts and unreadable files pass: 0.
 */
int preload_check(const char *program, struct error *err);

/* Whether a program, searched on PATH, runs with more privileges than its caller. */
bool preload_has_rights(const char *program);

#endif
