/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SIGNAL_H
#define WICK_ENGINE_SIGNAL_SIGNAL_H

/*
 * signal: samples from inside the program, which needs no privileges. A preloaded library records
 * its stacks at timer ticks; this engine collects them.
 */

#include "engine/engine.h"

extern const struct engine_ops signal_engine_ops;

#endif
