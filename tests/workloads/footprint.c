/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of known kinds: 16,384 blocks of 1,000 bytes, of which every second one goes; then, by a
 * thread with 4 MiB of its stack in use, 8 MiB of a file and 6 MiB that the program maps itself.
 * It says what was resident before that and at last, by the kernel.
 *
 *	footprint FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 16384
#define BLOCK_BYTES 1000
#define STACK_BYTES (4 << 20)
#define FILE_BYTES (8 << 20)
#define MAPPED_BYTES (6 << 20)

static char *blocks[BLOCKS];

/* What is resident, for a while: it is to be read meanwhile. */
static unsigned long stay(void)
{
	unsigned long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu %lu", &size, &resident) != 2)
		exit(1);
	(void)fclose(file);
	(void)usleep(400000);
	return resident * (unsigned long)sysconf(_SC_PAGESIZE);
}

static void map(int fd, size_t size, int kind)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, fd, 0);

	if (memory == MAP_FAILED)
		exit(1);
	memset(memory, 1, size);
}

static void *use_others(void *path)
{
	volatile char used[STACK_BYTES];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, FILE_BYTES) < 0)
		exit(1);
	map(fd, FILE_BYTES, MAP_SHARED);
	map(-1, MAPPED_BYTES, MAP_PRIVATE | MAP_ANONYMOUS);
	for (size_t i = 0; i < sizeof(used); i += 512)
		used[i] = 1;
	return (void *)stay();
}

int main(int argc, char **argv)
{
	unsigned long full;
	pthread_t thread;
	void *others;

	if (argc != 2)
		return 2;
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		if (!blocks[i])
			return 1;
		memset(blocks[i], i, BLOCK_BYTES);
	}
	full = stay();
	for (int i = 0; i < BLOCKS; i += 2)
		free(blocks[i]);
	if (pthread_create(&thread, NULL, use_others, argv[1]) != 0 ||
	    pthread_join(thread, &others) != 0)
		return 1;
	(void)printf("{\"full\": %lu, \"others\": %lu}\n", full, (unsigned long)others);
	return 0;
}
