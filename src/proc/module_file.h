/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_MODULE_FILE_H
#define WICK_PROC_MODULE_FILE_H

/*
 * module_file: identifies the file of a mapped region: its identity, its build id, and the bias
 * between runtime addresses and ELF vaddrs.
 *
 * The file is searched where the process itself sees it: through its own mapping
 * (/proc/PID/map_files), its /proc/PID/exe, its root directory, and finally by the bare path. A
 * file found by name counts only if it is the one that is mapped, and was not written since.
 * Headers are read once for each file, even if many processes map it.
 *
 * An object is used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/entity.h"

struct elf_file;
struct error;
struct map_region;
struct module_files;

struct module_place {
	struct module module; /* path is borrowed from the region, or is a constant */
	uint64_t bias;        /* runtime address - ELF vaddr */
	/*
	 * 0, or why the file could not be read (negative errno; -ESTALE: another file has the name
	 * now, or it has other contents). The identity then comes from the region, there is no
	 * build id, and the bias is a guess: right for files whose offsets equal their vaddrs.
	 */
	int unread;
	/* The file was written after it was mapped: what it contained then is not known. */
	bool rewritten;
};

/* What tells one file, and one state of its content, from another. */
struct file_stamp {
	uint64_t device;
	uint64_t inode;
	uint64_t mtime_ns;
	uint64_t size_bytes;
};

struct file_stamp file_stamp_of(const struct module *module);
/* Whether a path still leads to a file with this stamp. */
bool file_stamp_is_at(const struct file_stamp *stamp, const char *path);

struct module_files *module_files_new(void); /* NULL if out of memory */
void module_files_free(struct module_files *files);

/*
 * Identifies the module of a region of a process; pid 0 means this process, -1 a process that is
 * gone. The caller fills in the owner of anonymous memory, whose vaddrs are the raw addresses. The
 * vdso is assumed to be the same as in this process. Returns 0 or -ENOMEM: a file that cannot be
 * read is not an error, see unread.
 */
int module_files_identify(struct module_files *files, pid_t pid, const struct map_region *region,
			  struct module_place *ret);

/*
 * Opens the file of a region, found in the same way, or this process's vdso for a region of that
 * kind. The caller closes it with elf_close().
 */
int module_files_open(struct module_files *files, pid_t pid, const struct map_region *region,
		      struct elf_file **ret, struct error *err);

/*
 * A path by which the file of a region can be opened now: its own if that still leads to it, else
 * one in /proc, valid while the process lives. Returns 0 or why there is none.
 */
int module_files_locate(struct module_files *files, pid_t pid, const struct map_region *region,
			char *ret, size_t size);

/* How many files' headers have been read. */
size_t module_files_read_count(const struct module_files *files);

#endif
