/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MAPS_H
#define WICK_MAPS_H

/*
 * maps: converts addresses of a process to (library, offset).
 *
 * Take a snapshot of the memory map whenever libraries may have been loaded or unloaded, add each
 * to a converter under an id of your choice, store that id with the addresses you record, and
 * convert them later:
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
 * The offset of a location is the ELF virtual address: the number that nm, objdump and addr2line
 * show, the same in every run. The file offset is given as well; the two differ in files whose
 * segments have a virtual address other than their file offset.
 *
 * Consecutive snapshots of a process are stored as differences.
 *
 * Threads: any number of threads may read a snapshot. Adding to a converter needs exclusive access
 * to it; between additions any number of threads may convert. Do not call these functions from
 * signal handlers.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wick/error.h>
#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library of an address outside all regions of the snapshot. */
#define WICK_MAPS_UNKNOWN "[unknown]"

enum wick_maps_kind {
	WICK_MAPS_FILE = 0,
	WICK_MAPS_DELETED = 1, /* a file that was deleted or replaced */
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
	uint64_t file_offset; /* the file offset of start */
	uint64_t device;      /* in the encoding of makedev() */
	uint64_t inode;       /* 0: no file */
	const char *path;     /* "": none; owned by the snapshot */
	uint32_t kind;        /* enum wick_maps_kind; new kinds may be added */
	uint32_t protection;
};

struct wick_maps; /* a snapshot; immutable */

/* Option: keep only executable regions, which is enough for code addresses. */
#define WICK_MAPS_EXECUTABLE_ONLY 1u

/* The caller releases *ret with wick_maps_free(). On failure *ret is untouched. */
WICK_API int wick_maps_read_self(unsigned int options, struct wick_maps **ret,
				 struct wick_error *err);
WICK_API int wick_maps_read_pid(pid_t pid, unsigned int options, struct wick_maps **ret,
				struct wick_error *err);
/* Parses text in the format of /proc/PID/maps, for example saved from a process that has ended. */
WICK_API int wick_maps_parse(const char *text, size_t size, unsigned int options,
			     struct wick_maps **ret, struct wick_error *err);
WICK_API void wick_maps_free(struct wick_maps *maps); /* NULL is fine */

/* Regions are sorted by address and do not overlap. */
WICK_API size_t wick_maps_count(const struct wick_maps *maps);
/* Fills *ret with region i. Returns 0, or -ERANGE past the last one. */
WICK_API int wick_maps_region_at(const struct wick_maps *maps, size_t i,
				 struct wick_maps_region *ret);
/* The number of invalid lines that were skipped. */
WICK_API size_t wick_maps_bad_lines(const struct wick_maps *maps);

struct wick_maps_location {
	/*
	 * Path of the file, or [vdso], [heap], [anonymous] …, or [unknown]. Owned by the converter
	 * and valid until it is freed.
	 */
	const char *library;
	const char *build_id; /* lower-case hex, "": none; owned like library */
	/*
	 * ELF virtual address. For memory without a file, for [heap] and similar, and for
	 * [unknown]: the address itself.
	 */
	uint64_t offset;
	uint64_t file_offset; /* 0 for [unknown] */
	uint64_t address;     /* the address that was converted */
};

struct wick_maps_converter;

WICK_API int wick_maps_converter_new(struct wick_maps_converter **ret);
WICK_API void wick_maps_converter_free(struct wick_maps_converter *converter); /* NULL is fine */

/*
 * Adds a snapshot under an id. The snapshot is copied and may be freed afterwards. For regions that
 * the previous snapshot did not have, this opens the file to read its headers: add a snapshot soon
 * after reading it, while the files still exist. If a file cannot be opened, or was replaced, its
 * offsets and virtual addresses are assumed to be equal. Returns 0, -EEXIST if the id is in use, or
 * -ENOMEM.
 */
WICK_API int wick_maps_converter_add(struct wick_maps_converter *converter, uint64_t id,
				     const struct wick_maps *maps);

/*
 * Converts an address, using the snapshot with this id. Always fills *ret, with [unknown] if the id
 * or the address is unknown. Returns 1 if the address is known, else 0.
 */
WICK_API int wick_maps_convert(const struct wick_maps_converter *converter, uint64_t id,
			       uint64_t address, struct wick_maps_location *ret);

/* Converts n addresses with one snapshot, such as a stack. Returns how many are known. */
WICK_API size_t wick_maps_convert_batch(const struct wick_maps_converter *converter, uint64_t id,
					const uint64_t *addresses, size_t n,
					struct wick_maps_location *ret);

#ifdef __cplusplus
}
#endif

#endif
