/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_GZIP_H
#define WICK_EXPORT_GZIP_H

/*
 * gzip: compresses piece by piece. The result depends only on the data: it contains no name and no
 * time.
 */

struct bytes;
struct gzip;

struct gzip *gzip_new(struct bytes *out); /* borrows out; returns NULL if out of memory */
void gzip_free(struct gzip *gzip);        /* NULL is fine */

/* Compresses data and clears it. A failure shows in out. */
void gzip_put(struct gzip *gzip, struct bytes *data);

/* Writes the end of the stream. */
void gzip_finish(struct gzip *gzip);

#endif
