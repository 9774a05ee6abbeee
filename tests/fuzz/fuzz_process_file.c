/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds process_file with rings that no program would write: a byte that says which kind of ring
 * it is, the numbers of its slot, and what is in it. Each stack and text that is handed out must
 * be there to be read.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/signal/process_file.h"

#define RING_WORDS 1024u
#define SLOTS_OFFSET 1024u
#define RINGS_OFFSET 4096u
#define FILE_NAME "1.1.0"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-process-file-XXXXXX";
static volatile uint64_t sum;

static void remove_folder(void)
{
	(void)rmdir(folder);
}

/* The file is made anew for each input: nothing stays of the last. */
static struct process_file *make_file(void)
{
	static bool made;
	const struct session_process head = {
		.magic = SESSION_MAGIC,
		.version = SESSION_VERSION,
		.pid = 1,
		.slot_count = 1,
		.ring_words = RING_WORDS,
		.slots_offset = SLOTS_OFFSET,
		.rings_offset = RINGS_OFFSET,
		.rings = 1,
	};
	struct process_file *file = NULL;
	char path[64];
	int fd;

	if (!made && (!mkdtemp(folder) || atexit(remove_folder) != 0))
		abort();
	made = true;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, FILE_NAME);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, RINGS_OFFSET + RING_WORDS * 8) < 0 ||
	    write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
	    process_file_open(folder, FILE_NAME, &file) < 0)
		abort();
	(void)close(fd);
	(void)unlink(path);
	return file;
}

static int on_sample(void *self, struct process_file *file, const struct process_sample *sample)
{
	(void)self;
	(void)file;
	for (uint32_t i = 0; i < sample->count; i++)
		sum += sample->pcs[i];
	for (uint32_t i = 0; i < sample->label_bytes; i++)
		sum += (uint8_t)sample->labels[i];
	for (uint32_t i = 0; sample->texts && i < sample->text_bytes; i++)
		sum += (uint8_t)sample->texts[i];
	return 0;
}

static void on_thread(void *self, struct process_file *file, uint32_t tid, const char *comm,
		      bool ended)
{
	(void)self;
	(void)file;
	sum += tid + strlen(comm) + ended;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct process_reader reader = {on_sample, on_thread, NULL};
	struct process_file *file;
	struct session_slot *slot;
	uint64_t numbers[4];

	if (size < 1 + sizeof(numbers) || size > 1 + sizeof(numbers) + RING_WORDS * 8)
		return 0;
	file = make_file();
	file->overwritten = data[0] & 1;
	memcpy(numbers, data + 1, sizeof(numbers));
	slot = (struct session_slot *)((uint8_t *)file->head + SLOTS_OFFSET);
	slot->state = SESSION_SLOT_LEFT;
	slot->head = numbers[0];
	slot->tail = numbers[1];
	slot->oldest = numbers[2];
	slot->samples = numbers[3];
	memcpy((uint8_t *)file->head + RINGS_OFFSET, data + 1 + sizeof(numbers),
	       size - 1 - sizeof(numbers));
	if (process_file_drain(file, &reader) != 0)
		abort();
	sum += process_file_take_lost(file);
	process_file_close(file);
	return 0;
}
