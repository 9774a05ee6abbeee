/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SIGNAL_H
#define WICK_ENGINE_SIGNAL_SIGNAL_H

/*
 * signal: samples from inside the program, which needs no rights at all. A library
 * is loaded into it that takes its stacks when timers tick; this engine gathers them.
 */

#include "engine/engine.h"

extern const struct engine_ops signal_engine_ops;

#endif
