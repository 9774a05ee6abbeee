/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/arch/open_programs.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/ebpf/arch/waker_skeleton.h"
#include "engine/ebpf/skeleton.h"

const bool open_programs_needs_variables = true;

struct wick_bpf *open_programs(bool with_variables)
{
	struct wick_bpf *programs;

	if (!with_variables)
		return wick_bpf__open();
	programs = calloc(1, sizeof(*programs));
	if (!programs || wick_bpf__create_skeleton(programs) != 0) {
		free(programs);
		errno = ENOMEM;
		return NULL;
	}
	programs->skeleton->data = wick_waker_bpf__elf_bytes(&programs->skeleton->data_sz);
	if (bpf_object__open_skeleton(programs->skeleton, NULL) != 0) {
		wick_bpf__destroy(programs);
		return NULL;
	}
	return programs;
}
