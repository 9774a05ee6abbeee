/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_PAGE_SHARED_PAGE_FILE_H
#define WICK_VIEW_PAGE_SHARED_PAGE_FILE_H

/*
 * page_file: the frame of the HTML files. Each page is a single file that loads and sends nothing:
 * a style sheet, the elements, data for the script, the script.
 *
 *	page_file_begin(out, title, style, body);
 *	page_file_put_packed(out, "profile", &data);
 *	page_file_end(out, script);
 */

struct bytes;

/* The title may be any text. The style follows the one that all pages share. */
void page_file_begin(struct bytes *out, const char *title, const char *style, const char *body);

/*
 * Appends data in an element that the script finds by its id: gzip in base64, so that none of it is
 * markup. Clears plain. 0 or -ENOMEM.
 */
int page_file_put_packed(struct bytes *out, const char *id, struct bytes *plain);

/* Appends data as gzip alone, for a page that is open. Clears plain. 0 or -ENOMEM. */
int page_file_pack(struct bytes *plain, struct bytes *out);

void page_file_end(struct bytes *out, const char *script);

#endif
