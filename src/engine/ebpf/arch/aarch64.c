/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/arch/open_programs.h"

#include "engine/ebpf/skeleton.h"

const bool open_programs_needs_variables = false;

struct wick_bpf *open_programs(bool with_variables)
{
	(void)with_variables;
	return wick_bpf__open();
}
