/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_GZIP_H
#define WICK_EXPORT_GZIP_H

/*
 * gzip: compresses piece by piece. The result depends on the data alone: there is
 * neither a name nor a time in it.
 */

struct bytes;
struct gzip;

struct gzip *gzip_new(struct bytes *out); /* borrows out; NULL without memory */
void gzip_free(struct gzip *gzip);        /* NULL is fine */

/* Compresses data and clears it. A failure shows in out. */
void gzip_put(struct gzip *gzip, struct bytes *data);

/* Writes the end. */
void gzip_finish(struct gzip *gzip);

#endif
