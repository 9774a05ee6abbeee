/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOLIZE_H
#define WICK_SYMBOLIZE_H

/*
 * symbolize: converts addresses to functions, files, lines and inlined calls.
 *
 *	struct wick_symbolizer *symbolizer;
 *	struct wick_symbol symbol;
 *
 *	wick_symbolizer_open_pid(pid, 0, NULL, &symbolizer, NULL);
 *	wick_symbolize(symbolizer, address, &symbol);
 *	printf("%s %s:%u\n", symbol.frames[0].function, symbol.frames[0].file,
 *	       symbol.frames[0].line);
 *	wick_symbolizer_close(symbolizer);
 *
 * To look up a call, use its return address minus one.
 *
 * Files are read at first use. Separate debug files are searched for as in wick symbolize, and used
 * only if their build id or checksum matches. Memory use is bounded.
 *
 * Threads: a symbolizer is used by one thread at a time; different ones are independent. Do not
 * call these functions from signal handlers.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wick/error.h>
#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_symbolizer;

/* Options. */
#define WICK_SYMBOLIZE_MANGLED 1u    /* do not demangle linker names */
#define WICK_SYMBOLIZE_NAMES_ONLY 2u /* only functions, from symbol tables: fast */
#define WICK_SYMBOLIZE_NO_INLINES 4u /* leave out inlined calls */
#define WICK_SYMBOLIZE_CACHE 8u      /* keep answers in the user's cache directory */

/*
 * Opens a program or library, where addresses are ELF virtual addresses, or a running process.
 * symbol_paths are additional directories and files with debug information, NULL last; NULL for
 * none. The caller releases *ret with wick_symbolizer_close(). On failure *ret is untouched.
 */
WICK_API int wick_symbolizer_open_file(const char *path, unsigned int options,
				       const char *const *symbol_paths,
				       struct wick_symbolizer **ret, struct wick_error *err);
WICK_API int wick_symbolizer_open_pid(pid_t pid, unsigned int options,
				      const char *const *symbol_paths, struct wick_symbolizer **ret,
				      struct wick_error *err);
WICK_API void wick_symbolizer_close(struct wick_symbolizer *symbolizer); /* NULL is fine */

enum wick_symbol_quality {
	WICK_SYMBOL_FULL = 0,      /* function, file and line */
	WICK_SYMBOL_NAME = 1,      /* function */
	WICK_SYMBOL_STRIPPED = 2,  /* no name; the function is "module+0x1234" */
	WICK_SYMBOL_CORRUPTED = 3, /* no name, because the file is corrupted */
	WICK_SYMBOL_INVALID = 4,   /* the address is in no module */
};

struct wick_symbol_frame {
	const char *function; /* never NULL */
	const char *mangled;  /* the linker's name; NULL when unknown */
	const char *file;     /* NULL when unknown */
	uint32_t line;        /* 0 when unknown */
	uint32_t column;      /* 0 when unknown */
	uint32_t inlined;     /* 1: inlined into the next frame */
};

/* Owned by the symbolizer and valid until its next lookup. */
struct wick_symbol {
	uint64_t address;
	uint64_t vaddr;                         /* in the module */
	const char *module;                     /* path; "": the address is in no module */
	const char *build_id;                   /* in hex; "": none */
	const struct wick_symbol_frame *frames; /* innermost first */
	uint32_t frame_count;                   /* at least 1 */
	uint32_t quality;                       /* enum wick_symbol_quality */
};

/* Returns 1 if there is a name, else 0; or -ENOMEM, and *ret is untouched. */
WICK_API int wick_symbolize(struct wick_symbolizer *symbolizer, uint64_t address,
			    struct wick_symbol *ret);

struct wick_symbol_details {
	const char *compilation_unit; /* NULL when unknown */
	const char *signature;        /* of the innermost function; NULL when unknown */
	uint64_t row_start, row_end;  /* addresses of the line's row; 0 when unknown */
	uint32_t is_statement, prologue_end, epilogue_begin;
};

/* More about the address looked up last. Returns -ENOENT if nothing more is known. */
WICK_API int wick_symbolize_details(struct wick_symbolizer *symbolizer,
				    struct wick_symbol_details *ret);

#ifdef __cplusplus
}
#endif

#endif
