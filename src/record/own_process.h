/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_OWN_PROCESS_H
#define WICK_RECORD_OWN_PROCESS_H

/* own_process: what we take and may take ourselves. */

#include <stdint.h>

/* Every event of every thread on every CPU is a descriptor. */
void own_process_raise_limits(void);

void own_process_usage(uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes);

#endif
