/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * shared: the maps and settings of all programs that run in the kernel. The programs hold no
 * policy: whom to sample is what events they are attached to or what a map says, and all settings
 * are set before loading.
 */
#define DEFINES_SHARED

#include "bpf/maps.h"
#include "bpf/offcpu_maps.h"
#include "bpf/settings.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
