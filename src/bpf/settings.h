/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_SETTINGS_H
#define WICK_BPF_SETTINGS_H

/* settings: set by the engine before the programs are loaded; constants after that. */

#include <stdbool.h>
#include <stdint.h>

const volatile bool with_kernel = true; /* kernel frames too */
const volatile uint32_t depth = 512;    /* user frames of a stack */

#endif
