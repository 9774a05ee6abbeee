/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_OWN_PROCESS_H
#define WICK_RECORD_OWN_PROCESS_H

/* own_process: resource use and limits of the recorder itself. */

#include <stdint.h>

/* Raises the limit of open files: each event of each thread on each CPU needs a descriptor. */
void own_process_raise_limits(void);

void own_process_usage(uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes);

#endif
