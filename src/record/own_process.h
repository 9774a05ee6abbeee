/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_OWN_PROCESS_H
#define WICK_RECORD_OWN_PROCESS_H

/* own_process: resource use and limits of the recorder itself. */

#include <stdint.h>

/* Raises the limit of open files: each event of each thread on each CPU needs a descriptor. */
void own_process_raise_limits(void);

/* CPU time, and the most memory that was resident at once. */
void own_process_usage(uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes);

/* The memory that is resident now; 0 if it cannot be read. */
uint64_t own_process_resident_bytes(void);

#endif
