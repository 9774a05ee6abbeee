/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_ANNOTATE_DISASSEMBLY_H
#define WICK_VIEW_ANNOTATE_DISASSEMBLY_H

/*
 * disassembly: the instructions of a function, as objdump of binutils or llvm-objdump
 * prints them. They are run without a shell, within bounds of time and output.
 */

#include <stddef.h>
#include <stdint.h>

struct build_id;
struct error;

struct instruction {
	uint64_t vaddr;
	const char *text; /* in the disassembly's text */
};

struct disassembly {
	struct instruction *items;
	size_t count;
	char *text;
	uint64_t end; /* where the function ends */
};

/*
 * The function of an ELF file that holds vaddr. The file must have the build id, which
 * may not be empty: another file has other instructions. On failure err tells why there
 * are none, and how to get them.
 */
int disassembly_read(const char *path, const struct build_id *id, uint64_t vaddr,
		     struct disassembly *ret, struct error *err);
/*
 * What the programs print, from start up to end of the disassembly; other lines and
 * addresses are passed over. Takes text, which it changes. 0 or -ENOMEM.
 */
int disassembly_parse(char *text, uint64_t start, uint64_t end, struct disassembly *ret);
void disassembly_fini(struct disassembly *disassembly);

#endif
