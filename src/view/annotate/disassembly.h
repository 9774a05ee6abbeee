/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_ANNOTATE_DISASSEMBLY_H
#define WICK_VIEW_ANNOTATE_DISASSEMBLY_H

/*
 * disassembly: the instructions of a function, as objdump of binutils or llvm-objdump prints them.
 * These run without a shell, with limits on time and output.
 */

#include <stddef.h>
#include <stdint.h>

struct build_id;
struct error;

struct instruction {
	uint64_t vaddr;
	const char *text; /* in disassembly.text */
};

struct disassembly {
	struct instruction *items;
	size_t count;
	char *text;
	uint64_t end; /* end of the function */
};

/*
 * Reads the function of an ELF file that contains vaddr. The file must have the build id, which
 * must not be empty: another file has other instructions. On failure err says why there are none
 * and how to get them.
 */
int disassembly_read(const char *path, const struct build_id *id, uint64_t vaddr,
		     struct disassembly *ret, struct error *err);
/*
 * Parses the output of objdump from start to end; skips other lines and addresses. Takes text and
 * modifies it. 0 or -ENOMEM.
 */
int disassembly_parse(char *text, uint64_t start, uint64_t end, struct disassembly *ret);
void disassembly_fini(struct disassembly *disassembly);

#endif
