/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_SKELETON_H
#define WICK_ENGINE_EBPF_SKELETON_H

/* skeleton: the compiled BPF programs, which the build embeds. */

#include "wire/bpf_heap.h" /* the structs of their settings */

#pragma GCC system_header
#include "bpf/wick.skel.h"

#endif
