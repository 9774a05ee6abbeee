/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/remote_pages.h"

#include <string.h>
#include <sys/uio.h>

#define FIRST_BYTES 512u /* of a page that was not needed before */
#define LINE_BYTES 64u   /* the usual unit of memory */

static bool holds(struct remote_part outer, struct remote_part inner)
{
	return outer.start <= inner.start && inner.end <= outer.end;
}

static struct remote_part joined(struct remote_part one, struct remote_part other)
{
	return (struct remote_part){one.start < other.start ? one.start : other.start,
				    one.end > other.end ? one.end : other.end};
}

/*
 * Reads what the last round used in one system call: the same frames are probably read again. The
 * kernel copies the parts in this order.
 */
static void read_ahead(struct remote_pages *pages)
{
	struct iovec here[REMOTE_PAGES + 1];
	struct iovec there[REMOTE_PAGES + 1];
	size_t places[REMOTE_PAGES];
	size_t count = 0;
	size_t last = pages->last.bytes > 0;
	size_t i;
	ssize_t read = 0;

	for (i = 0; i < REMOTE_PAGES; i++) {
		struct remote_part part = pages->tags[i].needed;
		uint64_t address = pages->tags[i].address + part.start;

		if (pages->tags[i].used != pages->round)
			continue;
		here[count] = (struct iovec){pages->bytes[i] + part.start, part.end - part.start};
		there[count] = (struct iovec){(void *)(uintptr_t)address, part.end - part.start};
		places[count++] = i;
	}
	here[count] = (struct iovec){pages->last.copy, pages->last.bytes};
	there[count] = (struct iovec){(void *)(uintptr_t)pages->last.address, pages->last.bytes};
	if (count > 1)
		read = process_vm_readv(pages->pid, here, count + last, there, count + last, 0);
	for (i = 0; i < count && read >= (ssize_t)here[i].iov_len; i++) {
		read -= (ssize_t)here[i].iov_len;
		pages->tags[places[i]].round = pages->round + 1;
		pages->tags[places[i]].has = pages->tags[places[i]].needed;
		pages->tags[places[i]].is_ahead = true;
	}
	pages->is_last_read = last && count > 1 && i == count && read == (ssize_t)pages->last.bytes;
}

void remote_pages_begin_with(struct remote_pages *pages, pid_t pid, const struct remote_last *last)
{
	pages->last = *last;
	pages->is_last_read = false;
	if (pages->pid == pid && pages->round > 0)
		read_ahead(pages);
	pages->pid = pid;
	pages->round++;
}

void remote_pages_begin(struct remote_pages *pages, pid_t pid)
{
	static const struct remote_last none = {0};

	remote_pages_begin_with(pages, pid, &none);
}

bool remote_pages_has_last(const struct remote_pages *pages)
{
	return pages->is_last_read;
}

bool remote_pages_end(struct remote_pages *pages)
{
	struct iovec here = {pages->last.copy, pages->last.bytes};
	struct iovec there = {(void *)(uintptr_t)pages->last.address, pages->last.bytes};

	if (!pages->is_last_read)
		pages->is_last_read = process_vm_readv(pages->pid, &here, 1, &there, 1, 0) ==
				      (ssize_t)pages->last.bytes;
	return pages->is_last_read;
}

/* Reads a part of a page to its place. */
static bool read_part(struct remote_pages *pages, size_t place, uint64_t address,
		      struct remote_part part)
{
	struct iovec here = {pages->bytes[place] + part.start, part.end - part.start};
	struct iovec there = {(void *)(uintptr_t)(address + part.start), here.iov_len};
	struct remote_tag *tag = &pages->tags[place];

	if (tag->address != address) {
		tag->is_varied = false;
		tag->needed = (struct remote_part){REMOTE_PAGE, 0};
	}
	tag->round = tag->used = 0;
	pages->is_last_read = false;
	if (process_vm_readv(pages->pid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
		return false;
	tag->round = pages->round;
	tag->address = address;
	tag->has = part;
	tag->is_ahead = false;
	return true;
}

/* What to read of a page: a little around what is needed first, all of it if more is needed. */
static struct remote_part part_to_read(struct remote_part needed, bool is_second)
{
	struct remote_part part = {needed.start & ~(LINE_BYTES - 1),
				   (needed.end + FIRST_BYTES) & ~(LINE_BYTES - 1)};

	if (is_second || part.end > REMOTE_PAGE)
		part.end = REMOTE_PAGE;
	if (is_second)
		part.start = 0;
	return part;
}

/* A part of the page at an address; NULL if it cannot be read. */
static const uint8_t *find_part(struct remote_pages *pages, uint64_t address,
				struct remote_part needed)
{
	uint64_t number = address / REMOTE_PAGE;
	size_t place = (number ^ number >> 6) % REMOTE_PAGES;
	struct remote_tag *tag = &pages->tags[place];
	bool is_here = tag->round == pages->round && tag->address == address;
	bool is_used = is_here && tag->used == pages->round;

	if (!is_here || !holds(tag->has, needed)) {
		bool is_varied = is_here && tag->is_ahead;

		if (!read_part(pages, place, address, part_to_read(needed, is_here)))
			return NULL;
		tag->is_varied = tag->is_varied || is_varied;
	}
	/* Where other parts are needed in each round, as where frames are, all of them are read. */
	tag->needed = is_used || tag->is_varied ? joined(tag->needed, needed) : needed;
	tag->used = pages->round;
	return pages->bytes[place] + needed.start;
}

bool remote_pages_read(void *pages, uint64_t address, void *ret, uint32_t size)
{
	uint8_t *to = ret;

	while (size > 0) {
		uint32_t inside = (uint32_t)(address % REMOTE_PAGE);
		uint32_t part = REMOTE_PAGE - inside < size ? REMOTE_PAGE - inside : size;
		const uint8_t *bytes = find_part(pages, address - inside,
						 (struct remote_part){inside, inside + part});

		if (!bytes)
			return false;
		memcpy(to, bytes, part);
		to += part;
		address += part;
		size -= part;
	}
	return true;
}
