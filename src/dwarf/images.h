/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_IMAGES_H
#define WICK_DWARF_IMAGES_H

/*
 * images: the files that hold the debug information of one program: itself, dwz's
 * common file, a package (.dwp) and single split files (.dwo), opened as needed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/dwarf.h"
#include "dwarf/unit.h"

struct images {
	struct dwarf_hooks hooks;
	struct image *program;
	struct image *package;
	bool package_tried;
	struct image **split;
	size_t split_count, split_capacity;
};

/* Takes elf on success. hooks may be NULL. 0 or -ENOMEM. */
int images_init(struct images *images, struct elf_file *elf, const struct dwarf_hooks *hooks);
void images_fini(struct images *images);

/* Opens dwz's common file if the program names one. False if that fails. */
bool images_open_alt(struct images *images);

/* The unit with the functions of a skeleton, NULL if it cannot be found. */
struct unit *images_find_split(struct images *images, struct unit *skeleton);

uint64_t images_resident(const struct images *images);
void images_drop(struct images *images);

#endif
