/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOLISER_H
#define WICK_SYMBOL_SYMBOLISER_H

/*
 * symboliser: names for addresses. The only one: every view and export asks it.
 *
 * It opens the files of modules at first use, checks that they are the recorded
 * ones, and remembers what it found: each symbol is named and demangled once.
 * It knows nothing of recordings, processes or mappings.
 *
 * Callers look up return addresses as address - 1, so that a call at the very
 * end of a function is not taken for the next one.
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

struct symbol_frame {
	const char *function; /* never NULL */
	const char *linker;   /* the name that the linker knows; NULL when unknown */
	const char *file;     /* NULL when unknown */
	uint32_t line;        /* 0 when unknown */
	uint32_t column;      /* 0 when unknown */
	bool inlined;         /* into the frame that follows */
	uint32_t plain_bytes; /* of function, when it is printable ASCII; 0: not known to be */
	uint32_t tree;        /* bytes of file that are the folder of its sources; 0: none known */
	uint64_t start;       /* vaddr of the function; 0 when unknown */
};

/* From SYMBOL_NONE on there is no name, and a text that says where the address is. */
enum symbol_quality {
	SYMBOL_FULL,      /* function, file and line */
	SYMBOL_NAME_ONLY, /* function */
	SYMBOL_NONE,      /* module+0x1234: stripped, or the file is not there */
	SYMBOL_DAMAGED,   /* <corrupted>+0x1234 [module]: the file makes no sense */
	SYMBOL_INVALID,   /* <invalid address 0x1234>: in no module */
};

enum symbol_detail {
	SYMBOLS_NAMES,   /* functions, from symbol tables: quick */
	SYMBOLS_LINES,   /* and the line in the function, from debug information */
	SYMBOLS_INLINES, /* and the calls inlined there */
};

struct symboliser_config {
	bool demangle;
	bool merge_clones; /* "foo.cold" and "foo.part.0" are shown as "foo" */
	enum symbol_detail detail;
	/* Files and directories with symbols, besides the usual ones; copied. */
	const char *const *symbol_paths;
	size_t symbol_path_count;
	/* How to reach the files of a live process, see debug_file.h; borrowed. Optional. */
	const struct symbol_search *live;
	/* Where answers of debug information are kept on disk; borrowed. Optional. */
	struct cache_dir *cache;
	/* Asked for what has no name, NULL last; borrowed. Optional, as the next. */
	const struct name_source *const *sources;
	/* The process id of a module's owner, for these. */
	uint32_t (*pid_of)(void *self, uint32_t owner);
	void *pid_self;
};

/* What is known of an address besides its frames. */
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
	uint64_t miss_hits; /* known from memory to have no answer */
	uint64_t disk_hits;
};

int symboliser_new(const struct symboliser_config *config, struct symboliser **ret,
		   struct error *err);
void symboliser_free(struct symboliser *symboliser); /* NULL is fine */

/* Borrows the table until the symboliser is freed or gets another; NULL is none. */
void symboliser_set_kernel(struct symboliser *symboliser, const struct kernel_symbols *kernel);

/* The same for the names of compiled code in anonymous memory. */
void symboliser_set_jit(struct symboliser *symboliser, const struct jit_symbols *jit);

/* When compiled code is looked at that is resolved next: what is there may change. */
void symboliser_set_time(struct symboliser *symboliser, uint64_t time_ns);

/*
 * Resolves an ELF vaddr of a module. Frames come innermost first: the last one
 * is the function proper, those before it are inlined into their successors.
 * There is at least one. They stay valid until the next address is resolved, the
 * texts of named ones until the symboliser is freed.
 *
 * An id stands for the same module in all calls; MODULE_NONE (module NULL) means that
 * the address is in none. Kernel modules are passed on to symboliser_resolve_kernel().
 * Without a name the answer is SYMBOL_NONE with "<base name of path>+0x1234": where
 * the function starts, or the address itself when that is not known either.
 */
enum symbol_quality symboliser_resolve(struct symboliser *symboliser, const struct module *module,
				       uint32_t module_id, uint64_t vaddr,
				       const struct symbol_frame **ret_frames, size_t *ret_count);

/*
 * The variable that holds an ELF vaddr of a module, NULL when none is known; and how far inside it
 * that is. The text is valid until the symboliser is freed.
 */
const char *symboliser_resolve_data(struct symboliser *symboliser, const struct module *module,
				    uint32_t module_id, uint64_t vaddr, uint64_t *ret_offset);

/* Resolves a kernel address; one without a name becomes "[kernel]+0xffff…". */
enum symbol_quality symboliser_resolve_kernel(struct symboliser *symboliser, uint64_t address,
					      const struct symbol_frame **ret_frames,
					      size_t *ret_count);

/*
 * Why names of a module are missing, NULL when nothing is wrong or the module
 * was not asked about yet. Valid until the symboliser is freed.
 */
const char *symboliser_module_problem(const struct symboliser *symboliser, uint32_t module_id);

/* Whether that is for want of the file itself: it is gone, or another is in its place. */
bool symboliser_module_is_lost(const struct symboliser *symboliser, uint32_t module_id);

/* Whether a module that was asked about has debug information. */
bool symboliser_module_has_lines(const struct symboliser *symboliser, uint32_t module_id);

/* Who wrote what was told of a module so far; not known when it was not asked about yet. */
struct symbol_writer symboliser_module_writer(const struct symboliser *symboliser,
					      uint32_t module_id);

/* Tells more of an address that was resolved to SYMBOL_FULL; -ENOENT when it cannot. */
int symboliser_details(struct symboliser *symboliser, uint32_t module_id, uint64_t vaddr,
		       struct symbol_details *ret);

struct symboliser_stats symboliser_stats(const struct symboliser *symboliser);

#endif
