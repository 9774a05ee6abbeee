/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_JITDUMP_H
#define WICK_SYMBOL_JIT_JITDUMP_H

/*
 * jitdump: the log that runtimes write to jit-PID.dump: each piece of code with its name and lines
 * when it is generated, and its new address when it is moved. Unwinding information and the code
 * itself are skipped.
 *
 * The format is that of Linux's tools/perf/Documentation/jitdump-specification.txt. Its bytes are
 * not trusted.
 */

#include <stddef.h>
#include <stdint.h>

struct error;
struct jit_names;
struct jit_piece;

/*
 * The names borrow the data. An unfinished record at the end does not count. Returns 0, -EBADMSG if
 * it is not a jitdump file of this byte order, or the error of jit_names_add().
 */
int jitdump_parse(const void *data, size_t size, struct jit_names *names, struct error *err);

/* Fills file and line of an address from the entries of a record with lines. */
void jitdump_find_line(const uint8_t *lines, size_t size, uint64_t address,
		       struct jit_piece *piece);

#endif
