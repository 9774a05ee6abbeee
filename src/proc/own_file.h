/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_OWN_FILE_H
#define WICK_PROC_OWN_FILE_H

/* own_file: the file of the program that runs, which need not be the first of its name in PATH. */

#include <stdbool.h>
#include <stddef.h>

/* What lets wick do all it can. */
#define OWN_FILE_ALL "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog"

/* False, and "", when the file was replaced or removed since it was started. */
bool own_file_path(char *ret, size_t size);

/* Writes the command that grants it capabilities ("cap_bpf,cap_perfmon"); returns ret. */
const char *own_file_setcap(const char *capabilities, char *ret, size_t size);

#endif
