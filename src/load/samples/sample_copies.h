/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLE_COPIES_H
#define WICK_LOAD_SAMPLE_COPIES_H

/*
 * sample_copies: the samples of a small recording, kept while it is read, so that it need not be
 * read again. Of more than SAMPLE_COPIES_MAX none is kept.
 */

struct sample_batch;
struct sample_columns;

#define SAMPLE_COPIES_MAX 100000u

/* *copies may be NULL, and becomes NULL when there are too many. 0 or -ENOMEM. */
int sample_copies_add(struct sample_columns **copies, const struct sample_batch *batch);
void sample_copies_clear(struct sample_columns *copies); /* NULL is fine */

#endif
