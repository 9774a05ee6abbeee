/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_JOB_CONTROL_H
#define WICK_RECORD_JOB_CONTROL_H

/*
 * job_control: being suspended by Ctrl-Z and continued by fg or bg.
 *
 * A program that holds others must let them go before it stops. So it blocks the
 * signals, reads them from a descriptor, lets go, and stops by its own hand.
 */

#include <signal.h>
#include <stdbool.h>

/* Adds the signals that suspend to a mask, but for those that are ignored. */
void job_control_add(sigset_t *mask);
bool job_control_is(int number);

/*
 * Stops this program as the signal, which is blocked, would have done; returns when
 * it is continued, or at once where the kernel stops nobody: without a shell that
 * could continue it.
 */
void job_control_stop(int number);

#endif
