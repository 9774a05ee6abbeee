/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_PICTURE_H
#define WICK_VIEW_FLAME_PICTURE_H

/*
 * flame_picture: what the parts of the drawing of a flame graph share. Only for them.
 *
 * A picture has two ways to look at the stacks, as called and inverted, and one or
 * more layers: of a comparison after and before, else the value types that widths
 * can be of. Trees of the layers of a way have the same nodes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "model/profile.h"
#include "view/flame.h"
#include "view/flame_change.h"
#include "view/flame_layout.h"

/* These numbers are known to the script as well. */
#define ROW_PX 18
#define BOX_PX 17
#define MARGIN_PX 10
#define HEAD_PX 84
#define FOOT_PX 58
#define MAX_NAME_BYTES 4096 /* that a tooltip shows; more would only grow the file */
#define TEXT_PX 3           /* from a box's edge to its label */
#define CHARACTER_PX 7.3    /* of a 12 px monospaced font, rounded up */

#define LAYER_AFTER 0 /* of a pair */
#define LAYER_BEFORE 1

struct call_tree;
struct json;

struct flame_way {
	bool inverted;
	bool drawn; /* the other one is made visible by the script */
	struct call_tree *trees[PROFILE_MAX_VALUES];
	struct flame_layout layouts[PROFILE_MAX_VALUES];
	uint32_t rows; /* of the highest one */
	double scale;  /* pixels for a unit of the first layer */
};

struct picture {
	const struct profile *profile;
	const struct flame_options *options;
	uint32_t layers[PROFILE_MAX_VALUES]; /* value types; the first is drawn */
	uint32_t layer_count;
	const char *unit; /* of the first */
	struct flame_way ways[2];
	struct flame_way *way;    /* the one at hand */
	struct flame_sides whole; /* of a pair; after only without one */
	uint32_t new_boxes;
	uint32_t gone_boxes;
	uint32_t *lines;   /* of each function the one that costs most; 0: none is known */
	uint32_t used;     /* bit set of the swatches drawn */
	struct bytes name; /* scratch */
	struct bytes *out;
};

/* Whether the widths are counts of samples. */
bool flame_has_samples_alone(const struct picture *picture);

/* Appends a name, or as much of it as fits into some columns. */
void flame_put_label(struct picture *picture, const char *name, uint32_t columns);

/* Writes how a recording was made, as members of an object; "wick" is our version. */
void flame_put_recording(struct json *json, const struct profile *profile);

/* Appends " · 1.2 s recorded · 3.4% lost …": what all of it has to be judged by. */
void flame_put_judgement(const struct profile *profile, struct bytes *out);

/* What tooltips tell of a path: the file and its folder; the file of a module. */
const char *flame_file_name(const char *path);
const char *flame_module_name(const char *path);

/* Classes of the palettes: by enum function_origin, enum language, and the self share. */
#define FLAME_ORIGINS 6
#define FLAME_LANGUAGES 9
#define FLAME_HEATS 7
struct flame_heat {
	double share; /* from which on */
	const char *class;
};
extern const char *const flame_origin_classes[FLAME_ORIGINS];
extern const char *const flame_language_classes[FLAME_LANGUAGES];
extern const struct flame_heat flame_heats[FLAME_HEATS];

/* Tells names apart by colour. */
uint32_t flame_hash(const char *text);

/* Appends how the recording and the picture were made. */
void flame_put_metadata(struct picture *picture);

/* Appends the boxes of the way at hand. */
void flame_put_boxes(struct picture *picture);

/* Appends how much is not drawn of the way at hand, if anything. */
void flame_put_note(struct picture *picture);

/* Appends the squares and words that tell what colours mean. */
void flame_put_legend(struct picture *picture);

/* What a node of the way at hand has on both sides of a pair. */
struct flame_sides flame_sides_of(const struct picture *picture, uint32_t node);

#endif
