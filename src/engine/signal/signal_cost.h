/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SIGNAL_COST_H
#define WICK_ENGINE_SIGNAL_SIGNAL_COST_H

/* signal_cost: the time the kernel needs to deliver a timer signal to a handler and to return. */

#include <stdint.h>

/* Nanoseconds, measured in this process within a few milliseconds; 0: not possible. */
uint64_t signal_delivery_ns(void);

#endif
