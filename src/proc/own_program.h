/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_OWN_PROGRAM_H
#define WICK_PROC_OWN_PROGRAM_H

/*
 * own_program: the file of the running program, which is not necessarily the first of its name in
 * PATH.
 */

#include <stdbool.h>
#include <stddef.h>

/* Everything that wick can make use of. */
#define OWN_PROGRAM_ALL "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog"

/* False, and "", if the file was replaced or removed since the program started. */
bool own_program_path(char *ret, size_t size);

/*
 * The remedy for missing privileges, where there is no room for commands. Everybody who can run a
 * file with capabilities has them: do not let users run it who must not have access to root's
 * processes.
 */
#define OWN_PROGRAM_REMEDY                                                                         \
	"run as root, or let a group use it: see \"Without root\" in the manual "                  \
	"(setcap, mode 0750)"
#define OWN_PROGRAM_GROUP "wick"

/*
 * Writes the commands that grant it capabilities ("cap_bpf,cap_perfmon") and restrict it to root
 * and OWN_PROGRAM_GROUP; returns ret.
 */
const char *own_program_grant(const char *capabilities, char *ret, size_t size);

#endif
