/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_RUBY_ISEQ_H
#define WICK_LANGUAGE_RUBY_ISEQ_H

/*
 * iseq: copies an instruction sequence of a process, which is a method, a block or the body of a
 * class: its name, its file, and the line of each instruction.
 *
 * The memory is not trusted: lengths are limited, and bad contents lead to wrong names or lines,
 * but to nothing worse.
 */

#include <stddef.h>
#include <stdint.h>

struct code_key;
struct python_reader;
struct ruby_layout;

/* Longer names are truncated; of longer sequences, only the first line is known. */
#define RUBY_NAME_MAX 1024u
#define RUBY_FILE_MAX 4096u
#define RUBY_CODE_MAX (1u << 17) /* words */

/* From this instruction on, up to the next item. */
struct ruby_line {
	uint32_t index;
	uint32_t line;
};

struct ruby_iseq {
	char *name;
	char *file;
	uint32_t first_line;
	struct ruby_line *lines;
	size_t line_count;
};

/* What tells it apart from another at the same address. Returns 0 or a negative errno. */
int ruby_iseq_key(const struct ruby_layout *layout, const struct python_reader *reader,
		  uint64_t address, struct code_key *ret);

/*
 * Returns 0, -EFAULT if it cannot be read, -EINVAL if it is not an iseq, or -ENOMEM. The caller
 * releases *ret with ruby_iseq_fini().
 */
int ruby_iseq_read(const struct ruby_layout *layout, const struct python_reader *reader,
		   uint64_t address, struct ruby_iseq *ret);
void ruby_iseq_fini(struct ruby_iseq *iseq);

/* The line of the call that a frame makes, which is at the instruction before `index`. */
uint32_t ruby_iseq_line(const struct ruby_iseq *iseq, uint32_t index);

#endif
