/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_ARCH_WAKER_SKELETON_H
#define WICK_ENGINE_EBPF_ARCH_WAKER_SKELETON_H

/* waker_skeleton: the compiled BPF programs that read variables of the kernel; see
 * bpf/arch/x86_64.h. */

#include "wire/bpf_heap.h" /* the structs of their settings */

#pragma GCC system_header
#include "bpf/wick_waker.skel.h"

#endif
