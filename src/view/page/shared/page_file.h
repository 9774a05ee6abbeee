/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_SHARED_PAGE_FILE_H
#define WICK_VIEW_PAGE_SHARED_PAGE_FILE_H

/*
 * page_file: what HTML files have in common. Each is one file that loads nothing and sends
 * nothing: a style, the elements, data for the script, the script.
 *
 *	page_file_begin(out, title, style, body);
 *	page_file_put_packed(out, "profile", &data);
 *	page_file_end(out, script);
 */

struct bytes;

/* The title may be of any text. The style comes behind the one that all pages have. */
void page_file_begin(struct bytes *out, const char *title, const char *style, const char *body);

/*
 * Data in an element that the script finds by its id: gzip in base64, so nothing in it is markup;
 * clears it. 0 or -ENOMEM.
 */
int page_file_put_packed(struct bytes *out, const char *id, struct bytes *plain);

void page_file_end(struct bytes *out, const char *script);

#endif
