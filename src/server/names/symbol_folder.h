/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_NAMES_SYMBOL_FOLDER_H
#define WICK_SERVER_NAMES_SYMBOL_FOLDER_H

/*
 * symbol_folder: the symbols that a server keeps, one ELF file for each build id, as in a folder of
 * debug files: FOLDER/.build-id/ab/cdef….debug. What was written longest ago is removed when there
 * is too much. Any thread may call.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "elf/elf.h"

struct error;

#define SYMBOL_FOLDER_FILES_MAX 20000u
/* Of an upload, decompressed, and of what is made of it. */
#define SYMBOL_UPLOAD_MAX_BYTES (64u << 20)

struct symbol_file_entry {
	struct build_id build_id;
	uint64_t bytes;
	int64_t written_ns;
};

struct symbol_folder {
	char *path;
	uint64_t max_bytes;
	pthread_mutex_t upload_lock; /* of what reads an upload; taken before the next */
	pthread_mutex_t lock;
	/* With the lock: */
	VEC(struct symbol_file_entry) files;
	uint64_t bytes;
};

int symbol_folder_open(struct symbol_folder *folder, const char *path, uint64_t max_bytes,
		       struct error *err);
void symbol_folder_close(struct symbol_folder *folder);

/* Lower-case or upper-case hex of 8 to 32 bytes. */
bool symbol_folder_parse_id(const char *text, struct build_id *ret);

/* The size of what is kept for a build id; 0: nothing. */
uint64_t symbol_folder_size(struct symbol_folder *folder, const struct build_id *id);

/*
 * Keeps the functions of an ELF file that somebody sent: nothing of it is kept but their names and
 * addresses. Returns 1, or 0 if what is there has as many; -EINVAL if the file has another build
 * id; -EBUSY while another one is read.
 */
int symbol_folder_take(struct symbol_folder *folder, const struct build_id *id, const void *data,
		       size_t size, struct error *err);

/* Keeps a whole debug file, in place of what is there. */
int symbol_folder_keep(struct symbol_folder *folder, const struct build_id *id, const void *data,
		       size_t size, struct error *err);

struct symbol_folder_stats {
	uint64_t files;
	uint64_t bytes;
};
struct symbol_folder_stats symbol_folder_stats(struct symbol_folder *folder);

#endif
