/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_PAGE_URL_H
#define WICK_CLI_COMMANDS_PARTS_PAGE_URL_H

/* page_url: the line that says where a page is. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Flushed: whoever started us waits for it. */
void page_url_print(FILE *out, const char *address, uint16_t port, bool has_tls);

#endif
