/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_DWARF_H
#define WICK_DWARF_DWARF_H

/*
 * dwarf: source lines and inlined calls of an address, from the debug information (DWARF 2 to 5) of
 * one ELF file.
 *
 * Opening reads only the unit headers. A unit is parsed when an address in it is looked up, a
 * function when it is hit. The results are kept up to a limit; then the oldest are freed. So
 * lookups work in any order, and sorted ones need little memory. .debug_aranges is never read.
 *
 * Nothing in the file is trusted: a bad unit costs only that unit.
 *
 * It does not know where files are: it opens separate files through hooks. A dwarf is used by one
 * thread at a time; several are independent.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;
struct dwarf;
struct elf_file;
struct error;

/*
 * How to find what is not in the file. Each hook opens a file and returns 0, or a negative errno
 * without one; the dwarf takes over *ret. NULL hooks find nothing.
 */
struct dwarf_hooks {
	void *self;
	/* dwz's common file (.gnu_debugaltlink). The hook must check its build id. */
	int (*open_alt)(void *self, const char *name, const struct build_id *id,
			struct elf_file **ret);
	/* The .dwo file of a unit; a wrong file is detected by its id. */
	int (*open_dwo)(void *self, const char *comp_dir, const char *name, uint64_t id,
			struct elf_file **ret);
	/* The .dwp file beside the program, requested once and before any .dwo. */
	int (*open_dwp)(void *self, struct elf_file **ret);
};

#define DWARF_MAX_FRAMES 130

struct dwarf_frame {
	const char *name;   /* NULL when unknown */
	const char *file;   /* absolute if the file says so; NULL when unknown */
	uint32_t tree;      /* of the file's path, see path_tree() */
	uint32_t line;      /* 0 when unknown */
	uint32_t column;    /* 0 when unknown */
	bool mangled;       /* name is the linker's */
	bool inlined;       /* into the frame that follows */
	uint64_t low, high; /* the function's range that contains the address; last frame only */
};

struct dwarf_frames {
	size_t count;
	struct dwarf_frame items[DWARF_MAX_FRAMES]; /* innermost first */
};

/* What wick symbolize shows in addition. */
struct dwarf_details {
	const char *unit;           /* name of the compilation unit; NULL when unknown */
	const char *signature;      /* of the innermost function, with types; NULL when unknown */
	uint64_t row_low, row_high; /* the addresses of the line's row; 0 when unknown */
	bool is_statement, prologue_end, epilogue_begin;
};

struct dwarf_stats {
	uint32_t units, bad_units;
	uint32_t missing_dwo; /* units whose .dwo could not be opened */
	bool missing_alt;     /* the program needs a dwz file that could not be opened */
};

/*
 * Takes elf over on success. hooks (copied) may be NULL. -ENODATA when the file
 * has no debug information. The caller releases *ret with dwarf_close().
 */
int dwarf_open(struct elf_file *elf, const struct dwarf_hooks *hooks, struct dwarf **ret,
	       struct error *err);
void dwarf_close(struct dwarf *dwarf); /* NULL is fine */

/*
 * Finds the frames at an ELF vaddr. Returns their number: 0 when nothing is known about it; one
 * frame without a name when only the line is known. -ENOMEM if out of memory. Texts are valid until
 * dwarf_close(), and equal names are one pointer.
 */
int dwarf_find(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_frames *ret);

/* Finds more about the innermost frame. Slower; -ENOENT when nothing is known about it. */
int dwarf_find_details(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_details *ret);

struct dwarf_stats dwarf_stats(const struct dwarf *dwarf);

/* Sets roughly how much memory may be kept in total; the default is 64 MB. */
void dwarf_set_limit(struct dwarf *dwarf, size_t bytes);

#endif
