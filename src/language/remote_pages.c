/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/remote_pages.h"

#include <string.h>
#include <sys/uio.h>

/* Reads what the last round used in one system call: the same frames are probably read again. */
static void read_ahead(struct remote_pages *pages)
{
	struct iovec here[REMOTE_PAGES];
	struct iovec there[REMOTE_PAGES];
	size_t places[REMOTE_PAGES];
	size_t count = 0;
	ssize_t read;

	for (size_t i = 0; i < REMOTE_PAGES; i++) {
		if (pages->tags[i].used != pages->round)
			continue;
		here[count] = (struct iovec){pages->bytes[i], REMOTE_PAGE};
		there[count] =
			(struct iovec){(void *)(uintptr_t)pages->tags[i].address, REMOTE_PAGE};
		places[count++] = i;
	}
	read = count > 1 ? process_vm_readv(pages->pid, here, count, there, count, 0) : 0;
	for (size_t i = 0; read >= (ssize_t)((i + 1) * REMOTE_PAGE); i++)
		pages->tags[places[i]].round = pages->round + 1;
}

void remote_pages_begin(struct remote_pages *pages, pid_t pid)
{
	if (pages->pid == pid && pages->round > 0)
		read_ahead(pages);
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

	if (pages->tags[place].round != pages->round || pages->tags[place].address != address) {
		pages->tags[place].round = pages->tags[place].used = 0;
		if (process_vm_readv(pages->pid, &here, 1, &there, 1, 0) != (ssize_t)REMOTE_PAGE)
			return NULL;
		pages->tags[place].round = pages->round;
		pages->tags[place].address = address;
	}
	pages->tags[place].used = pages->round;
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
