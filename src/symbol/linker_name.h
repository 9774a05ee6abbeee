/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_LINKER_NAME_H
#define WICK_SYMBOL_LINKER_NAME_H

/*
 * linker_name: how the name of a symbol is shown.
 *
 *	memcpy@@GLIBC_2.17    memcpy            the version is omitted
 *	_Z3addii@plt          add(int, int)@plt
 *	parse.constprop.0     parse             when clones are merged
 *	_Z3addii.cold         add(int, int)     likewise; else "add(int, int) [clone .cold]"
 */

#include <stdbool.h>
#include <stddef.h>

struct linker_name_style {
	bool demangle;
	bool merge_clones;
};

/* The caller frees the text. NULL if out of memory. */
char *linker_name_show(const char *name, struct linker_name_style style);

/*
 * The name of a kernel symbol: "bpf_prog_6deef7357e7b4530_sched_switch", which the kernel generates
 * for BPF programs, becomes "bpf:sched_switch". The caller frees the text.
 */
char *linker_name_show_kernel(const char *name, struct linker_name_style style);

/*
 * The length of name without what compilers append for parts and copies of a function: .cold,
 * .part.0, .isra.0, .constprop.0, .llvm.123, .__uniq.123 and the like.
 */
size_t linker_name_without_clone(const char *name, size_t size);

#endif
