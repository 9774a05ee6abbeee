/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_RUBY_RUNTIME_H
#define WICK_LANGUAGE_RUBY_RUNTIME_H

/*
 * runtime: finds Ruby's virtual machine in a process, in its executable or in a libruby, stripped
 * or not.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "language/loop_code.h"

struct error;
struct maps;
struct ruby_layout;
struct runtime_files;
struct runtime_kind;

/* The loop is rb_vm_exec(), with the parts moved away from it, and the function that it calls. */
#define RUBY_LOOPS (LOOP_RANGES + 1u)

struct ruby_runtime {
	const struct ruby_layout *layout;
	uint64_t vm_pointer;                     /* address of ruby_current_vm_ptr */
	struct language_range loops[RUBY_LOOPS]; /* addresses in the process */
	size_t loop_count;
};

extern const struct runtime_kind ruby_runtime_kind;

/*
 * files are of ruby_runtime_kind. Returns 0 or a negative errno: -ENOENT if the process has none,
 * -ENOTSUP if it cannot be read (err says why).
 */
int ruby_runtime_find(struct runtime_files *files, pid_t pid, const struct maps *maps,
		      struct ruby_runtime *ret, struct error *err);

#endif
