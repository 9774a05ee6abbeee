/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SIGNAL_COST_H
#define WICK_ENGINE_SIGNAL_SIGNAL_COST_H

/* signal_cost: what the kernel needs to bring a timer's signal to a handler, and to come back. */

#include <stdint.h>

/* Nanoseconds, measured in this process in some milliseconds; 0 when that is not possible. */
uint64_t signal_delivery_ns(void);

#endif
