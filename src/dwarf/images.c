/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/package.h"
#include "elf/elf.h"

#define MAX_LINK_BYTES 8192

int images_init(struct images *images, struct elf_file *elf, const struct dwarf_hooks *hooks)
{
	*images = (struct images){0};
	if (hooks)
		images->hooks = *hooks;
	images->program = image_new(elf, false);
	return images->program ? 0 : -ENOMEM;
}

void images_fini(struct images *images)
{
	if (images->program)
		image_free(images->program->alt);
	image_free(images->program);
	image_free(images->package);
	for (size_t i = 0; i < images->split_count; i++)
		image_free(images->split[i]);
	free(images->split);
	*images = (struct images){0};
}

uint64_t images_resident(const struct images *images)
{
	uint64_t sum = image_resident(images->program);

	if (images->program->alt)
		sum += image_resident(images->program->alt);
	if (images->package)
		sum += image_resident(images->package);
	for (size_t i = 0; i < images->split_count; i++)
		sum += image_resident(images->split[i]);
	return sum;
}

void images_drop(struct images *images)
{
	image_drop(images->program);
	if (images->program->alt)
		image_drop(images->program->alt);
	if (images->package)
		image_drop(images->package);
	for (size_t i = 0; i < images->split_count; i++)
		image_drop(images->split[i]);
}

/* Files that the program's debug information refers to. */
enum other_file {
	OTHER_ALT,     /* common to several programs: .gnu_debugaltlink, .debug_sup */
	OTHER_PACKAGE, /* a .dwp file: its units are found through its index */
	OTHER_SPLIT,   /* a .dwo file */
};

/* A file's debug sections; always takes over elf. NULL if they are unusable. */
static struct image *make_image(struct elf_file *elf, enum other_file kind)
{
	struct image *image = image_new(elf, kind != OTHER_ALT);

	if (!image) {
		elf_close(elf);
		return NULL;
	}
	if (kind != OTHER_PACKAGE && image_read_units(image) < 0) {
		image_free(image);
		return NULL;
	}
	return image;
}

/*
 * .gnu_debugaltlink: name, NUL, build id.
 * .debug_sup (DWARF 5): version, is_supplementary, name, NUL, size, checksum.
 */
static bool read_link(struct elf_file *elf, char **ret_name, struct build_id *ret_id)
{
	const struct elf_section *section = elf_section_find(elf, ".gnu_debugaltlink");
	bool sup = !section;
	SCOPED(mem) uint8_t *data = NULL;
	const uint8_t *at, *end, *nul;
	uint64_t size;

	if (sup)
		section = elf_section_find(elf, ".debug_sup");
	if (!section || section->size > MAX_LINK_BYTES || section->size < 4)
		return false;
	data = malloc(section->size);
	if (!data || elf_read_at(elf, section->offset, data, section->size) < 0)
		return false;
	at = data + (sup ? 3 : 0);
	end = data + section->size;
	if (sup && data[2] != 0)
		return false; /* this is the common file itself */
	nul = memchr(at, 0, (size_t)(end - at));
	if (!nul)
		return false;
	*ret_name = strdup((const char *)at);
	at = nul + 1;
	size = (uint64_t)(end - at);
	if (sup && !(at = leb_read(at, end, &size)))
		size = 0;
	if (at && size <= (uint64_t)(end - at)) {
		ret_id->size = (uint8_t)(size < BUILD_ID_MAX ? size : BUILD_ID_MAX);
		memcpy(ret_id->bytes, at, ret_id->size);
	}
	return *ret_name != NULL;
}

bool images_open_alt(struct images *images)
{
	SCOPED(mem) char *name = NULL;
	struct elf_file *elf = NULL;
	struct build_id id = {0};

	if (!read_link(images->program->elf, &name, &id))
		return true; /* none is needed */
	if (!images->hooks.open_alt ||
	    images->hooks.open_alt(images->hooks.self, name, &id, &elf) < 0)
		return false;
	images->program->alt = make_image(elf, OTHER_ALT);
	return images->program->alt != NULL;
}

static void open_package(struct images *images)
{
	struct elf_file *elf = NULL;

	images->package_tried = true;
	if (images->hooks.open_dwp && images->hooks.open_dwp(images->hooks.self, &elf) == 0)
		images->package = make_image(elf, OTHER_PACKAGE);
}

static struct unit *find_by_id(struct image *image, uint64_t id)
{
	for (size_t i = 0; i < image->unit_count; i++) {
		struct unit *unit = image->units[i];

		if (unit->kind == DW_UT_type || unit->kind == DW_UT_split_type)
			continue;
		if (unit_prepare(unit) && unit->dwo_id == id)
			return unit;
	}
	return NULL;
}

static struct unit *open_dwo(struct images *images, struct unit *skeleton)
{
	SCOPED(mem) struct die *root = malloc(sizeof(*root));
	struct elf_file *elf = NULL;
	const char *name, *comp_dir;
	struct image *image;
	struct {
		struct image **items;
		size_t count, capacity;
	} split = {images->split, images->split_count, images->split_capacity};

	if (!images->hooks.open_dwo || !root || !die_read(skeleton, skeleton->first, root))
		return NULL;
	name = die_text(root, SLOT_DWO_NAME);
	comp_dir = die_text(root, SLOT_COMP_DIR);
	if (!name || images->hooks.open_dwo(images->hooks.self, comp_dir ? comp_dir : "", name,
					    skeleton->dwo_id, &elf) < 0)
		return NULL;
	image = make_image(elf, OTHER_SPLIT);
	if (!image)
		return NULL;
	if (vec_push(&split, image) < 0) {
		image_free(image);
		return NULL;
	}
	images->split = split.items;
	images->split_count = split.count;
	images->split_capacity = split.capacity;
	return find_by_id(image, skeleton->dwo_id);
}

struct unit *images_find_split(struct images *images, struct unit *skeleton)
{
	struct unit *unit = NULL;

	if (!images->package_tried)
		open_package(images);
	if (images->package)
		unit = package_find(images->package, SECTION_CU_INDEX, skeleton->dwo_id);
	if (!unit)
		unit = open_dwo(images, skeleton);
	return unit && unit_prepare(unit) && !unit->skeleton ? unit : NULL;
}
