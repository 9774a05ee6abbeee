/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MAPS_H
#define WICK_MAPS_H

/*
 * maps: from addresses of a process to (library, offset).
 *
 * Take snapshots of a memory map whenever libraries may have come or gone, hand
 * each to a converter under a number of your choice, keep that number with the
 * addresses you record, and convert them when you like:
 *
 *	struct wick_maps *maps;
 *	struct wick_maps_converter *converter;
 *	struct wick_maps_location location;
 *
 *	wick_maps_converter_new(&converter);
 *	wick_maps_read_self(0, &maps, NULL);
 *	wick_maps_converter_add(converter, 1, maps);
 *	wick_maps_free(maps);
 *	wick_maps_convert(converter, 1, address, &location);
 *
 * The offset of a location is the ELF virtual address: the number that nm,
 * objdump and addr2line show, the same in every run. The offset in the file
 * stands beside it; the two differ in files whose segments are not mapped
 * where they lie.
 *
 * Snapshots of one process that follow each other are kept as differences.
 *
 * Threads: a snapshot may be read by any number of threads. Adding to a
 * converter needs the converter alone; any number of threads may convert
 * between additions. Nothing here is for signal handlers.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wick/error.h>
#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library of an address that no region of the snapshot holds. */
#define WICK_MAPS_UNKNOWN "[unknown]"

enum wick_maps_kind {
	WICK_MAPS_FILE = 0,
	WICK_MAPS_DELETED = 1, /* a file whose name is gone or means another file */
	WICK_MAPS_MEMFD = 2,
	WICK_MAPS_VDSO = 3,
	WICK_MAPS_VSYSCALL = 4,
	WICK_MAPS_SPECIAL = 5, /* [heap], [stack], [anon:name] … */
	WICK_MAPS_ANONYMOUS = 6,
};

/* Protection bits. */
#define WICK_MAPS_READ 1u
#define WICK_MAPS_WRITE 2u
#define WICK_MAPS_EXEC 4u
#define WICK_MAPS_SHARED 8u

struct wick_maps_region {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset; /* of start */
	uint64_t device;      /* as makedev() makes it */
	uint64_t inode;       /* 0: no file */
	const char *path;     /* "" when there is none; owned by the snapshot */
	uint32_t kind;        /* enum wick_maps_kind; new kinds may come */
	uint32_t protection;
};

struct wick_maps; /* a snapshot: does not change once made */

/* Option: keep executable regions only, which is all that code addresses need. */
#define WICK_MAPS_EXECUTABLE_ONLY 1u

/* The caller releases *ret with wick_maps_free(). On failure *ret is untouched. */
WICK_API int wick_maps_read_self(unsigned int options, struct wick_maps **ret,
				 struct wick_error *err);
WICK_API int wick_maps_read_pid(pid_t pid, unsigned int options, struct wick_maps **ret,
				struct wick_error *err);
/* From text in the form of /proc/PID/maps, kept from a process that is gone. */
WICK_API int wick_maps_parse(const char *text, size_t size, unsigned int options,
			     struct wick_maps **ret, struct wick_error *err);
WICK_API void wick_maps_free(struct wick_maps *maps); /* NULL is fine */

/* Regions are sorted by address and do not overlap. */
WICK_API size_t wick_maps_count(const struct wick_maps *maps);
/* Fills *ret with region i. Returns 0, or -ERANGE past the last one. */
WICK_API int wick_maps_region_at(const struct wick_maps *maps, size_t i,
				 struct wick_maps_region *ret);
/* Lines of the text that made no sense and were skipped. */
WICK_API size_t wick_maps_bad_lines(const struct wick_maps *maps);

struct wick_maps_location {
	/*
	 * Path of the file, or [vdso], [heap], [anonymous] …, or [unknown]. Owned
	 * by the converter and valid as long as it is.
	 */
	const char *library;
	const char *build_id; /* lower-case hex, "" when there is none; as library */
	/*
	 * ELF vaddr. For memory without a file, for [heap] and the like, and for
	 * [unknown]: the address itself.
	 */
	uint64_t offset;
	uint64_t file_offset; /* 0 for [unknown] */
	uint64_t address;     /* what was asked for */
};

struct wick_maps_converter;

WICK_API int wick_maps_converter_new(struct wick_maps_converter **ret);
WICK_API void wick_maps_converter_free(struct wick_maps_converter *converter); /* NULL is fine */

/*
 * Adds a snapshot under an id; the snapshot is copied and may be freed. This
 * opens the files of regions that the snapshot before did not have, to read
 * their headers: add a snapshot soon after it was read, while they are there. A
 * file that cannot be opened, or was replaced, counts as one whose offsets and
 * vaddrs are equal. Returns 0, -EEXIST for an id that is taken, or -ENOMEM.
 */
WICK_API int wick_maps_converter_add(struct wick_maps_converter *converter, uint64_t id,
				     const struct wick_maps *maps);

/*
 * Converts an address of the process as of snapshot id. *ret is always filled,
 * with [unknown] when the id or the address is not known. Returns 1 when the
 * address is known, else 0.
 */
WICK_API int wick_maps_convert(const struct wick_maps_converter *converter, uint64_t id,
			       uint64_t address, struct wick_maps_location *ret);

/* Converts n addresses of one snapshot, such as a stack. Returns how many are known. */
WICK_API size_t wick_maps_convert_batch(const struct wick_maps_converter *converter, uint64_t id,
					const uint64_t *addresses, size_t n,
					struct wick_maps_location *ret);

#ifdef __cplusplus
}
#endif

#endif
