/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_OWN_PROGRAM_H
#define WICK_PROC_OWN_PROGRAM_H

/* own_program: the file of the program that runs, which need not be the first of its name in PATH.
 */

#include <stdbool.h>
#include <stddef.h>

/* What lets wick do all it can. */
#define OWN_PROGRAM_ALL "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog"

/* False, and "", when the file was replaced or removed since it was started. */
bool own_program_path(char *ret, size_t size);

/*
 * What helps who lacks rights, where there is no room for commands. Everybody who may run a
 * file with capabilities has them: whom root's processes are not to be open to must not.
 */
#define OWN_PROGRAM_REMEDY                                                                         \
	"run as root, or let a group use it: see \"Without root\" in the manual "                  \
	"(setcap, mode 0750)"
#define OWN_PROGRAM_GROUP "wick"

/*
 * Writes the commands that grant it capabilities ("cap_bpf,cap_perfmon"), and leave it to
 * root and to OWN_PROGRAM_GROUP; returns ret.
 */
const char *own_program_grant(const char *capabilities, char *ret, size_t size);

#endif
