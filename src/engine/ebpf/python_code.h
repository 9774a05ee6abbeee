/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_PYTHON_CODE_H
#define WICK_ENGINE_EBPF_PYTHON_CODE_H

/* python_code: code objects that the programs have copied, for the names of Python calls. */

struct bpf_programs;
struct sample_record;

/* Takes a record of kind BPF_WALK_CODE. An invalid one is ignored: its calls have no names. */
void python_code_take(struct bpf_programs *programs, const struct sample_record *sample);

#endif
