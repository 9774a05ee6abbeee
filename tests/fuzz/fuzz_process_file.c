/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds the file of a watched program with whatever comes: as it is, or behind a head
 * that makes sense, or hardly anything but the head would be looked at.
 *
 *	input := how:u8 file…            even: all of the file
 *	         how:u8 slot ring…       odd: one slot, and as much of its ring as there is
 *	                                 and with 2: its oldest records are given up
 */

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/signal/process_file.h"
#include "engine/signal/told.h"
#include "model/entity.h"
#include "model/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RING_WORDS 1024u
#define RINGS_OFFSET 4096u
#define NAME "7.100.0"

static char folder[] = "/tmp/wick-fuzz-XXXXXX";
static char path[sizeof(folder) + sizeof(NAME) + 1];

static void clean_up(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void set_up(void)
{
	if (path[0])
		return;
	if (!mkdtemp(folder))
		abort();
	(void)snprintf(path, sizeof(path), "%s/" NAME, folder);
	(void)atexit(clean_up);
}

static void write_file(const uint8_t *data, size_t size)
{
	static uint8_t whole[RINGS_OFFSET + RING_WORDS * 8];
	struct session_process head = {
		.magic = SESSION_MAGIC,
		.version = SESSION_VERSION,
		.pid = 7,
		.slot_count = 1,
		.ring_words = RING_WORDS,
		.slots_offset = sizeof(head),
		.rings_offset = RINGS_OFFSET,
		.rings = 1,
	};
	size_t slot = size < sizeof(struct session_slot) ? size : sizeof(struct session_slot);
	size_t ring = size - slot < RING_WORDS * 8 ? size - slot : RING_WORDS * 8;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(whole, 0, sizeof(whole));
	memcpy(whole, &head, sizeof(head));
	memcpy(whole + sizeof(head), data + 1, slot);
	memcpy(whole + RINGS_OFFSET, data + 1 + slot, ring);
	if (fd < 0 || (data[0] & 1 ? write(fd, whole, sizeof(whole)) != (ssize_t)sizeof(whole)
				   : write(fd, data + 1, size) != (ssize_t)size))
		abort();
	(void)close(fd);
}

static int take_schema(void *self, const struct schema *schema, uint32_t *ret_id)
{
	(void)self;
	*ret_id = (uint32_t)(strlen(schema->event) + strlen(schema->unit));
	return 0;
}

static int take_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id)
{
	(void)self;
	*ret_id = 0;
	if (n > LABELS_MAX)
		abort();
	for (size_t i = 0; i < n; i++)
		*ret_id += (uint32_t)(strlen(labels[i].key) + strlen(labels[i].value));
	return 0;
}

/* Reads a sample to its last address and text. */
static int on_sample(void *self, struct process_file *file, const struct process_sample *sample)
{
	uint64_t sum = 0;

	(void)file;
	for (uint32_t i = 0; i < sample->count; i++)
		sum += sample->pcs[i];
	if (sample->texts)
		sum += told_schema(self, sample);
	sum += told_labels(self, sample, "R");
	return sum == UINT64_MAX && sample->count > 1024 ? 1 : 0;
}

static void on_thread(void *self, struct process_file *file, uint32_t tid, const char *comm,
		      bool ended)
{
	(void)self, (void)file, (void)tid, (void)ended;
	if (strlen(comm) > 16)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sink_ops ops = {.schema = take_schema, .labels = take_labels};
	struct sink sink = {&ops, NULL};
	struct process_file *file;

	if (size < 2)
		return 0;
	set_up();
	write_file(data, size - 1);
	if (process_file_open(folder, NAME, &file) == 0) {
		struct told *told = told_new(&sink);
		struct process_reader reader = {
			.sample = on_sample, .thread = on_thread, .self = told};

		file->overwritten = (data[0] & 2) != 0;
		if (!told || process_file_drain(file, &reader) != 0)
			abort();
		(void)process_file_take_lost(file);
		/* It is cut while it is read. */
		if (truncate(path, (off_t)(size % sizeof(struct session_process))) < 0 ||
		    process_file_drain(file, &reader) != 0)
			abort();
		told_free(told);
		process_file_close(file);
	}
	return 0;
}
