/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BENCH_HELPER_BENCH_SKELETON_H
#define WICK_BENCH_HELPER_BENCH_SKELETON_H

#pragma GCC system_header
#include "helper_bench.skel.h"

#endif
