/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_FD_LIMIT_H
#define WICK_PIPELINE_FD_LIMIT_H

/*
 * fd_limit: every event of every thread on every CPU is a descriptor. Raises the limit of
 * them as far as we may; with fewer there are fewer events, and a message.
 */
void fd_limit_raise(void);

#endif
