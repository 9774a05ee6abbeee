/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_FILE_GUESS_H
#define WICK_IMPORT_FILE_GUESS_H

/*
 * file_guess: what a file that no importer reads looks like, for the message that
 * refuses it. By its first bytes alone.
 */

#include <stddef.h>
#include <stdint.h>

struct error;

struct file_guess {
	const char *what;   /* "a Java heap dump (hprof)" */
	const char *remedy; /* NULL: none but to make another file */
};

/* NULL when it looks like nothing that is known. */
const struct file_guess *file_guess(const uint8_t *data, size_t size);

/* For what is left: text of some kind, or NULL. */
const struct file_guess *file_guess_text(const uint8_t *data, size_t size);

/* Says what a file looks like, and what to do. Returns -EOPNOTSUPP. */
int file_guess_refuse(const char *name, const struct file_guess *guess, struct error *err);

#endif
