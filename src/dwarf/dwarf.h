/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_DWARF_H
#define WICK_DWARF_DWARF_H

/*
 * dwarf: source lines and inlined calls of an address, from the debug information
 * (DWARF 2 to 5) of one ELF file.
 *
 * Opening reads the heads of units only; a unit is taken apart when an address
 * in it is asked for, a function when it is hit. What was made is kept up to a
 * limit and then given back, oldest first, so that addresses in any order work and
 * sorted ones work in little memory. .debug_aranges is never read.
 *
 * Everything in the file is hostile: a bad unit costs that unit.
 *
 * It knows nothing of where files are: separate files are asked for through hooks.
 * A dwarf is used by one thread at a time; several are independent.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;
struct dwarf;
struct elf_file;
struct error;

/*
 * Where to find what is not in the file. Each opens a file and returns 0, or a
 * negative errno when there is none; the dwarf takes *ret over. NULL hooks find nothing.
 */
struct dwarf_hooks {
	void *self;
	/* dwz's common file (.gnu_debugaltlink): check that its build id is the one given. */
	int (*open_alt)(void *self, const char *name, const struct build_id *id,
			struct elf_file **ret);
	/* The .dwo file of a unit; a wrong one is noticed by its id. */
	int (*open_dwo)(void *self, const char *comp_dir, const char *name, uint64_t id,
			struct elf_file **ret);
	/* The .dwp file beside the program, asked for once and before any .dwo. */
	int (*open_dwp)(void *self, struct elf_file **ret);
};

#define DWARF_MAX_FRAMES 130

struct dwarf_frame {
	const char *name;   /* NULL when unknown */
	const char *file;   /* absolute when the file says so; NULL when unknown */
	uint32_t tree;      /* of the file's path, see path_tree() */
	uint32_t line;      /* 0 when unknown */
	uint32_t column;    /* 0 when unknown */
	bool mangled;       /* name is the linker's */
	bool inlined;       /* into the frame that follows */
	uint64_t low, high; /* the function's range that holds the address; of the last frame */
};

struct dwarf_frames {
	size_t count;
	struct dwarf_frame items[DWARF_MAX_FRAMES]; /* innermost first */
};

/* What wick symbolize tells besides. */
struct dwarf_details {
	const char *unit;           /* name of the compilation unit; NULL when unknown */
	const char *signature;      /* of the innermost function, with types; NULL when unknown */
	uint64_t row_low, row_high; /* the addresses of the line's row; 0 when unknown */
	bool is_statement, prologue_end, epilogue_begin;
};

struct dwarf_stats {
	uint32_t units, bad_units;
	uint32_t missing_dwo; /* units whose .dwo was not to be had */
	bool missing_alt;     /* there is a dwz file somewhere, but not here */
};

/*
 * Takes elf over on success. hooks (copied) may be NULL. -ENODATA when the file
 * has no debug information. The caller releases *ret with dwarf_close().
 */
int dwarf_open(struct elf_file *elf, const struct dwarf_hooks *hooks, struct dwarf **ret,
	       struct error *err);
void dwarf_close(struct dwarf *dwarf); /* NULL is fine */

/*
 * Finds the frames at an ELF vaddr. Returns how many there are: 0 when nothing
 * is known there; one without a name when only the line is known. -ENOMEM when
 * memory ran out. Texts are valid until dwarf_close(), and equal names are one
 * pointer.
 */
int dwarf_find(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_frames *ret);

/* Finds more about the innermost frame. Slower; -ENOENT when nothing is known there. */
int dwarf_find_details(struct dwarf *dwarf, uint64_t vaddr, struct dwarf_details *ret);

struct dwarf_stats dwarf_stats(const struct dwarf *dwarf);

/* Sets how much memory may be kept in all, about; the default is 64 MB. */
void dwarf_set_limit(struct dwarf *dwarf, size_t bytes);

#endif
