/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/remote_pages.h"

#include <string.h>
#include <sys/uio.h>

void remote_pages_begin(struct remote_pages *pages, pid_t pid)
{
	pages->pid = pid;
	pages->round++;
}

/* The page at an address; NULL if it cannot be read. */
static const uint8_t *find_page(struct remote_pages *pages, uint64_t address)
{
	uint64_t number = address / REMOTE_PAGE;
	size_t place = (number ^ number >> 6) % REMOTE_PAGES;
	struct iovec here = {pages->bytes[place], REMOTE_PAGE};
	struct iovec there = {(void *)(uintptr_t)address, REMOTE_PAGE};

	if (pages->tags[place].round == pages->round && pages->tags[place].address == address)
		return pages->bytes[place];
	pages->tags[place].round = 0;
	if (process_vm_readv(pages->pid, &here, 1, &there, 1, 0) != (ssize_t)REMOTE_PAGE)
		return NULL;
	pages->tags[place].round = pages->round;
	pages->tags[place].address = address;
	return pages->bytes[place];
}

bool remote_pages_read(void *pages, uint64_t address, void *ret, uint32_t size)
{
	uint8_t *to = ret;

	while (size > 0) {
		uint32_t inside = (uint32_t)(address % REMOTE_PAGE);
		uint32_t part = REMOTE_PAGE - inside < size ? REMOTE_PAGE - inside : size;
		const uint8_t *page = find_page(pages, address - inside);

		if (!page)
			return false;
		memcpy(to, page + inside, part);
		to += part;
		address += part;
		size -= part;
	}
	return true;
}
