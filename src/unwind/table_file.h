/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_TABLE_FILE_H
#define WICK_UNWIND_TABLE_FILE_H

/*
 * table_file: an unwind table as a file that a process can map and use.
 *
 *	header | rows (8 bytes each) | rules (20 bytes each)
 *
 * The file is only for this machine: numbers are little-endian, like everything that wick runs on.
 * A reader refuses another version, another size than the header says, and a wrong checksum.
 */

#include <stdint.h>

#define UNWIND_FILE_MAGIC "wickunw\n"
/* Increment it with every change of the rows, the rules or the compiler's output. */
#define UNWIND_FILE_VERSION 8
#define UNWIND_FILE_BUILD_ID_MAX 32

struct unwind_file_header {
	char magic[8];
	uint32_t version;
	uint16_t machine;
	uint8_t zero;
	uint8_t build_id_size;
	uint8_t build_id[UNWIND_FILE_BUILD_ID_MAX];
	/* What the kernel knows about the module's file: a build id may be forged. */
	uint64_t device;
	uint64_t inode; /* 0: an image in memory */
	uint64_t size_bytes;
	uint64_t modified_ns;
	uint64_t changed_ns;
	uint64_t owner;
	uint64_t layout; /* hash of the module's segments, and of an image in memory */
	uint64_t base;
	uint32_t row_count;
	uint32_t rule_count;
	uint64_t checksum; /* XXH3 of the whole file with 0 here */
};

_Static_assert(sizeof(struct unwind_file_header) == 128, "the header is part of the file");

#endif
