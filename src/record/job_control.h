/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_JOB_CONTROL_H
#define WICK_RECORD_JOB_CONTROL_H

/*
 * job_control: suspension by Ctrl-Z and continuation by fg or bg.
 *
 * A program that holds other processes (with ptrace) must release them before it stops. So it
 * blocks these signals, reads them from a descriptor, releases the processes, and then stops
 * itself.
 */

#include <signal.h>
#include <stdbool.h>

/* Adds the signals that suspend a program to a mask, except those that are ignored. */
void job_control_add(sigset_t *mask);
bool job_control_is(int number);

/*
 * Stops this program as the blocked signal would have done. Returns when it is continued, or at
 * once if the kernel does not stop it because no shell could continue it.
 */
void job_control_stop(int number);

#endif
