/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_LIVE_PAGE_H
#define WICK_CLI_COMMANDS_PARTS_LIVE_PAGE_H

/*
 * live_page: serves a recording while it is made.
 *
 * A process of its own does it, at low priority: it neither delays the recorder nor takes much of a
 * CPU that the watched program needs. It reads the file like any other reader. It is started before
 * anything else, so that it holds nothing of the recorder open.
 */

#include <stdint.h>
#include <sys/types.h>

struct error;
struct load_options;

struct live_page {
	pid_t pid; /* 0: there is none */
	int fd;    /* it ends when this is closed */
};

struct live_page_config {
	const char *address;
	uint16_t port; /* 0: any free one */
	const char *path;
	const struct load_options *load;
};

/* Returns when the page can be opened, or why it cannot. Initialise *ret with zeros. */
int live_page_start(struct live_page *ret, const struct live_page_config *config,
		    uint16_t *ret_port, struct error *err);

/* Tells open pages that the recording has ended, and waits for the process. Its CPU time in ns. */
uint64_t live_page_end(struct live_page *page);

#endif
