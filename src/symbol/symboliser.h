/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOLISER_H
#define WICK_SYMBOL_SYMBOLISER_H

/*
 * symboliser: names for addresses. Every view and export uses it.
 *
 * It opens the files of modules at first use, checks that they are the recorded ones, and caches
 * what it found: each symbol is named and demangled once. It knows nothing about recordings,
 * processes or mappings.
 *
 * Callers look up return addresses as address - 1, so that a call at the very end of a function is
 * not attributed to the next function.
 *
 * A symboliser is used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symbol_writer.h"

struct cache_dir;
struct error;
struct jit_symbols;
struct kernel_symbols;
struct module;
struct name_source;
struct symbol_search;
struct symboliser;
struct table_builder;

struct symbol_frame {
	const char *function; /* never NULL */
	const char *linker;   /* the linker's name; NULL when unknown */
	const char *file;     /* NULL when unknown */
	uint32_t line;        /* 0 when unknown */
	uint32_t column;      /* 0 when unknown */
	bool inlined;         /* into the frame that follows */
	uint32_t plain_bytes; /* of function, if it is printable ASCII; 0: not known to be */
	uint32_t tree;        /* length of the part of file that is its source folder; 0: unknown */
	uint64_t start;       /* vaddr of the function; 0 when unknown */
};

/* From SYMBOL_NONE on there is no name; the text says where the address is. */
enum symbol_quality {
	SYMBOL_FULL,      /* function, file and line */
	SYMBOL_NAME_ONLY, /* function */
	SYMBOL_NONE,      /* module+0x1234: stripped, or the file is missing */
	SYMBOL_DAMAGED,   /* <corrupted>+0x1234 [module]: the file is invalid */
	SYMBOL_INVALID,   /* <invalid address 0x1234>: in no module */
};

enum symbol_detail {
	SYMBOLS_NAMES,   /* functions, from symbol tables: fast */
	SYMBOLS_LINES,   /* also the line, from debug information */
	SYMBOLS_INLINES, /* also inlined calls */
};

struct symboliser_config {
	bool demangle;
	bool merge_clones; /* "foo.cold" and "foo.part.0" are shown as "foo" */
	enum symbol_detail detail;
	/* Files and directories with symbols, in addition to the usual ones; copied. */
	const char *const *symbol_paths;
	size_t symbol_path_count;
	/* How to reach the files of a live process, see debug_file.h; borrowed. Optional. */
	const struct symbol_search *live;
	/* Where results from debug information are cached on disk; borrowed. Optional. */
	struct cache_dir *cache;
	/* Asked about addresses without a name, NULL last; borrowed. Optional, like the next. */
	const struct name_source *const *sources;
	/* The process id of a module's owner, for the sources. */
	uint32_t (*pid_of)(void *self, uint32_t owner);
	void *pid_self;
};

/* What is known about an address besides its frames. */
struct symbol_details {
	const char *unit;           /* name of the compilation unit; NULL when unknown */
	const char *signature;      /* of the innermost function, with types; NULL when unknown */
	uint64_t row_low, row_high; /* the addresses of the line's row; 0 when unknown */
	bool is_statement, prologue_end, epilogue_begin;
};

/* How often lookups in debug information were answered without reading it. */
struct symboliser_stats {
	uint64_t lookups;
	uint64_t hits;      /* from memory */
	uint64_t miss_hits; /* known to have no result */
	uint64_t disk_hits;
};

int symboliser_new(const struct symboliser_config *config, struct symboliser **ret,
		   struct error *err);
void symboliser_free(struct symboliser *symboliser); /* NULL is fine */

/* Borrows the table until the symboliser is freed or receives another; NULL for none. */
void symboliser_set_kernel(struct symboliser *symboliser, const struct kernel_symbols *kernel);

/* The same for the names of compiled code in anonymous memory. */
void symboliser_set_jit(struct symboliser *symboliser, const struct jit_symbols *jit);

/* Sets the time at which compiled code is resolved next: what is at an address may change. */
void symboliser_set_time(struct symboliser *symboliser, uint64_t time_ns);

/*
 * Whether symboliser_resolve() finds the names of a module without much work. If not, another
 * process prepares them at idle priority (table_builder.h), if tables are kept on disk; until the
 * deadline (CLOCK_MONOTONIC; 0: not at all) it waits for that.
 */
bool symboliser_is_ready(struct symboliser *symboliser, const struct module *module,
			 uint32_t module_id, uint64_t deadline_ns);
/* What starts those processes: to hurry them, and for what they have cost. */
struct table_builder *symboliser_builder(struct symboliser *symboliser);

/*
 * Resolves an ELF vaddr of a module. Frames are ordered innermost first: the last one is the
 * function itself, those before it are inlined into their successors. There is at least one. They
 * stay valid until the next address is resolved, the texts of named ones until the symboliser is
 * freed.
 *
 * An id refers to the same module in all calls; MODULE_NONE (module NULL) means that the address is
 * in no module. Kernel modules are passed on to symboliser_resolve_kernel(). Without a name the
 * result is SYMBOL_NONE with "<base name of path>+0x1234": where the function starts, or the
 * address itself if that is unknown too.
 */
enum symbol_quality symboliser_resolve(struct symboliser *symboliser, const struct module *module,
				       uint32_t module_id, uint64_t vaddr,
				       const struct symbol_frame **ret_frames, size_t *ret_count);

/*
 * The variable that contains an ELF vaddr of a module, NULL if none is known; and the offset of
 * vaddr in it. The text is valid until the symboliser is freed.
 */
const char *symboliser_resolve_data(struct symboliser *symboliser, const struct module *module,
				    uint32_t module_id, uint64_t vaddr, uint64_t *ret_offset);

/* Resolves a kernel address; one without a name becomes "[kernel]+0xffff…". */
enum symbol_quality symboliser_resolve_kernel(struct symboliser *symboliser, uint64_t address,
					      const struct symbol_frame **ret_frames,
					      size_t *ret_count);

/*
 * Why names of a module are missing, NULL if nothing is wrong or the module was not looked up yet.
 * Valid until the symboliser is freed.
 */
const char *symboliser_module_problem(const struct symboliser *symboliser, uint32_t module_id);

/* Whether that is because its file is missing: it is gone, or another is in its place. */
bool symboliser_module_is_lost(const struct symboliser *symboliser, uint32_t module_id);

/* Whether a module that was looked up has debug information. */
bool symboliser_module_has_lines(const struct symboliser *symboliser, uint32_t module_id);

/* Who wrote the symbols of a module so far; unknown if it was not looked up yet. */
struct symbol_writer symboliser_module_writer(const struct symboliser *symboliser,
					      uint32_t module_id);

/* More about an address that was resolved to SYMBOL_FULL; -ENOENT if nothing is known. */
int symboliser_details(struct symboliser *symboliser, uint32_t module_id, uint64_t vaddr,
		       struct symbol_details *ret);

struct symboliser_stats symboliser_stats(const struct symboliser *symboliser);

#endif
