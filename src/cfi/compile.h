/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_COMPILE_H
#define WICK_CFI_COMPILE_H

/*
 * compile: from the call frame information of a module to its unwind table.
 *
 * Reads .eh_frame, and .debug_frame if that is missing or incomplete. Supports x86-64 and aarch64
 * on any machine. Input is not trusted: time and memory are bounded by the size of the sections.
 */

#include <stdint.h>

#include "unwind/table.h"

struct elf_file;
struct error;

/* Larger CFI is not read: the largest programs have 40 MB. */
#define CFI_MAX_SECTION_BYTES (128u << 20)

/* A table that owns its memory. */
struct cfi_table {
	struct unwind_table table;
	void *memory;
	uint64_t mapped_bytes; /* memory is a mapping of a file; 0: it is on the heap */
};

struct cfi_stats {
	uint32_t fdes;
	uint32_t bad_fdes;      /* invalid, left out */
	uint32_t raw_rows;      /* before equal neighbours were merged */
	uint32_t unusual_rules; /* rows whose CFA, RA or FP our rules cannot express */
	uint32_t repaired_rows; /* added at function edges where the CFI is wrong */
};

/* ret_stats may be NULL. A module without CFI gives a table without rows. */
int cfi_compile(struct elf_file *elf, struct cfi_table *ret, struct cfi_stats *ret_stats,
		struct error *err);
/* The same without repair and PLT rows: what the file says, even if it is wrong. */
int cfi_compile_as_written(struct elf_file *elf, struct cfi_table *ret, struct cfi_stats *ret_stats,
			   struct error *err);
void cfi_table_fini(struct cfi_table *table);
/* Gives back the memory of a table that is mapped: what is needed again is read from its file. */
void cfi_table_rest(const struct cfi_table *table);

#endif
