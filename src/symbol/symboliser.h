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

struct error;
struct jit_symbols;
struct kernel_symbols;
struct module;
struct symboliser;

struct symbol_frame {
	const char *function; /* never NULL */
	const char *file;     /* NULL when unknown */
	uint32_t line;        /* 0 when unknown */
	bool inlined;         /* into the frame that follows */
	uint64_t start;       /* vaddr of the function; 0 when unknown */
};

enum symbol_quality {
	SYMBOL_FULL,      /* function, file and line */
	SYMBOL_NAME_ONLY, /* function */
	SYMBOL_NONE,      /* the module and the address in it, as text */
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
};

int symboliser_new(const struct symboliser_config *config, struct symboliser **ret,
		   struct error *err);
void symboliser_free(struct symboliser *symboliser); /* NULL is fine */

/* Borrows the table until the symboliser is freed or gets another; NULL is none. */
void symboliser_set_kernel(struct symboliser *symboliser, const struct kernel_symbols *kernel);

/* The same for the names of compiled code in anonymous memory. */
void symboliser_set_jit(struct symboliser *symboliser, const struct jit_symbols *jit);

/*
 * Resolves an ELF vaddr of a module. Frames come innermost first: the last one
 * is the function proper, those before it are inlined into their successors.
 * There is at least one. They stay valid until the symboliser is freed.
 *
 * An id stands for the same module in all calls; MODULE_NONE (module NULL) is
 * "[unknown]". Kernel modules are passed on to symboliser_resolve_kernel().
 * Without a name the answer is SYMBOL_NONE with "<base name of path>+0x1234": where
 * the function starts, or the address itself when that is not known either.
 */
enum symbol_quality symboliser_resolve(struct symboliser *symboliser, const struct module *module,
				       uint32_t module_id, uint64_t vaddr,
				       const struct symbol_frame **ret_frames, size_t *ret_count);

/* Resolves a kernel address; one without a name becomes "[kernel]+0xffff…". */
enum symbol_quality symboliser_resolve_kernel(struct symboliser *symboliser, uint64_t address,
					      const struct symbol_frame **ret_frames,
					      size_t *ret_count);

/*
 * Why names of a module are missing, NULL when nothing is wrong or the module
 * was not asked about yet. Valid until the symboliser is freed.
 */
const char *symboliser_module_problem(const struct symboliser *symboliser, uint32_t module_id);

#endif
