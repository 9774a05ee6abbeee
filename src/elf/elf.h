/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ELF_ELF_H
#define WICK_ELF_ELF_H

/*
 * elf: a bounded reader of ELF files (64-bit, little-endian, any machine).
 *
 * No offset or size in the file is trusted: nothing is read outside it and nothing is allocated
 * beyond stated limits. Bytes are copied out with pread(), never mapped, so a file that shrinks
 * under us is an error and not a SIGBUS.
 *
 * Missing or truncated section headers count as "no sections"; a damaged file header or program
 * header is an error.
 *
 * An elf_file is used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct error;
struct stat;

#define BUILD_ID_MAX 32

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[BUILD_ID_MAX];
};

/*
 * What the kernel knows about a file. Its owner can choose its content and build id, but cannot
 * give it the inode and the change time of another file.
 */
struct file_identity {
	uint64_t device;
	uint64_t inode; /* 0: an image in memory */
	uint64_t size_bytes;
	uint64_t modified_ns;
	uint64_t changed_ns; /* content, name or owner: set only by the kernel */
	uint64_t owner;      /* user id */
};

struct elf_segment { /* one PT_LOAD */
	uint64_t offset;
	uint64_t vaddr;
	uint64_t file_bytes;
	uint64_t memory_bytes;
	uint64_t align;
	uint32_t flags; /* PF_X … */
};

struct elf_section {
	const char *name; /* borrowed from the elf_file */
	uint32_t type;
	uint64_t flags;
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	uint64_t entry_bytes;
	uint32_t link;
	uint32_t info;
};

/* Opens a regular file; devices, FIFOs and directories are refused. */
int elf_open(const char *path, struct elf_file **ret, struct error *err);
/* Takes over fd on success. name is for messages. */
int elf_open_fd(int fd, const char *name, struct elf_file **ret, struct error *err);
/* Reads an image from memory (the vdso), which is borrowed until elf_close(). */
int elf_open_memory(const void *image, size_t size, const char *name, struct elf_file **ret,
		    struct error *err);
void elf_close(struct elf_file *elf); /* NULL is fine */

/*
 * The file's owner. False when everybody may write to it, or it is an image in memory. Its group
 * may write to it: with a umask of 002 a user's own group can write to all of the user's files.
 */
bool elf_owner(const struct elf_file *elf, uint32_t *ret_uid);

uint16_t elf_machine(const struct elf_file *elf); /* EM_X86_64, EM_AARCH64 … */
uint16_t elf_type(const struct elf_file *elf);    /* ET_EXEC, ET_DYN … */
bool elf_is_cut(const struct elf_file *elf);      /* it ends before its section headers */
uint64_t elf_entry(const struct elf_file *elf);
/* The identity of a file. */
struct file_identity file_identity_of(const struct stat *status);
/* The identity of the file when it was opened. */
struct file_identity elf_identity(const struct elf_file *elf);

/* The GNU build id from PT_NOTE segments or note sections; size 0 if there is none. */
const struct build_id *elf_build_id(struct elf_file *elf);
/* Searches at most a few megabytes of notes, which are aligned to 4 or 8 bytes. */
bool build_id_of_notes(const uint8_t *notes, uint64_t size, uint64_t align, struct build_id *ret);
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* Reads hex digits of 1 to BUILD_ID_MAX bytes and nothing else; false if it is not that. */
bool build_id_parse(const char *text, struct build_id *ret);
/* Writes lower-case hex and NUL: text has room for 2 * BUILD_ID_MAX + 1. */
void build_id_format(const struct build_id *id, char *text);

/* The _at functions return NULL past the last one. */
size_t elf_segment_count(const struct elf_file *elf);
const struct elf_segment *elf_segment_at(const struct elf_file *elf, size_t i);
/* PT_GNU_EH_FRAME: the search table of .eh_frame. False when the file has none. */
bool elf_eh_frame_table(const struct elf_file *elf, uint64_t *ret_vaddr, uint64_t *ret_size);
size_t elf_section_count(const struct elf_file *elf);
const struct elf_section *elf_section_at(const struct elf_file *elf, size_t i);
const struct elf_section *elf_section_find(const struct elf_file *elf, const char *name);

/*
 * Reads a section's bytes (SHT_NOBITS and sections past the end of the file
 * are errors; at most 1 GiB). The caller frees *ret_data.
 */
int elf_section_read(struct elf_file *elf, const struct elf_section *section, void **ret_data,
		     size_t *ret_size, struct error *err);
/* Whether elf_section_read() would find all bytes of the section. */
bool elf_section_is_readable(const struct elf_file *elf, const struct elf_section *section);
/* Copies n bytes out of the file: all of them, or -ERANGE past its end. */
int elf_read_at(struct elf_file *elf, uint64_t offset, void *place, size_t n);

/*
 * The ELF virtual address at a file offset, from the PT_LOAD that contains it; where two do,
 * executable segments win. -ENOENT when no segment contains it.
 */
int elf_offset_to_vaddr(const struct elf_file *elf, uint64_t offset, uint64_t *ret_vaddr);
/* The reverse. */
int elf_vaddr_to_offset(const struct elf_file *elf, uint64_t vaddr, uint64_t *ret_offset);

/*
 * The load bias (runtime address - ELF vaddr) of a mapping of this file that starts at map_start
 * and maps the file from map_offset. Handles several LOAD segments, 4k/16k/64k alignment, a
 * non-zero first p_vaddr, p_vaddr that differs from p_offset, ET_DYN and ET_EXEC: 0 at the address
 * the file asks for, else how far a part was moved that was mapped again elsewhere. Where segments
 * share a page, the mapping is assumed to be executable. -ENOENT when no segment fits.
 */
int elf_load_bias(const struct elf_file *elf, uint64_t map_start, uint64_t map_offset,
		  uint64_t *ret_bias);
/*
 * The same from a copy of the segments, for a file that is no longer open; also for mappings that
 * are not executable.
 */
int elf_segments_load_bias(const struct elf_segment *segments, size_t count, uint64_t map_start,
			   uint64_t map_offset, bool executable, uint64_t *ret_bias);

#endif
