/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * shared: the maps and settings of all programs that run in the kernel. The programs contain no
 * policy: what to sample depends on the events they are attached to or on a map, and all settings
 * are set before loading.
 */
#define DEFINES_SHARED

#include "bpf/maps.h"
#include "bpf/offcpu_maps.h"
#include "bpf/python_maps.h"
#include "bpf/settings.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
