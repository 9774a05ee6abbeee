/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_PICTURE_H
#define WICK_VIEW_FLAME_FLAME_PICTURE_H

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
#include "view/flame/flame.h"
#include "view/flame/flame_change.h"
#include "view/flame/flame_layout.h"

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
struct error;
struct flame_swatch;
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
	/* Appends a name so that nothing in it does harm where out goes. */
	void (*put_name)(struct bytes *out, const char *name);
	struct bytes *out;
};

/* The colour of a box. */
struct flame_paint {
	const struct flame_swatch *swatch; /* NULL: the colour is a hue */
	uint32_t shade;                    /* of the swatch */
	uint32_t color;                    /* on a light page */
};

/* A coloured square of the legend and what it means. */
struct flame_meaning {
	uint32_t x_px;
	const struct flame_swatch *swatch;
	const char *words;
};

#define FLAME_MEANINGS_MAX 32 /* as many as picture.used has bits */

/* Whether the widths are counts of samples. */
bool flame_has_samples_alone(const struct picture *picture);

/*
 * Makes a picture, lets draw() fill out, and releases all. A negative answer of draw()
 * without words in err counts as a lack of memory.
 */
int flame_picture_draw(const struct profile *profile, const struct flame_options *options,
		       int (*draw)(struct picture *picture, struct error *err), struct bytes *out,
		       struct error *err);

/* Grows the trees of a way and places their boxes; it becomes the one at hand. 0 or -ENOMEM. */
int flame_way_init(struct picture *picture, struct flame_way *way);
void flame_way_fini(struct flame_way *way);

/* Counts the functions that only one side of a pair has, of the way at hand. */
void flame_count_changes(struct picture *picture);

/* Append the heading, and the line below it: what all of it is, and what is missing. */
void flame_put_heading(struct picture *picture);
void flame_put_about(struct picture *picture);

/* Appends what all of a layer is: "cpu 1.2 s · 300 samples". */
void flame_put_whole(const struct picture *picture, uint32_t layer, struct bytes *out,
		     void (*put_name)(struct bytes *out, const char *name));

/* Appends the label of a box that fits into some columns, of a pair with what changed. */
void flame_put_words(struct picture *picture, uint32_t node, const char *name, uint32_t columns);

/* Notes that the colour is used, for the legend. */
struct flame_paint flame_paint_of(struct picture *picture, uint32_t node);

/* What is drawn besides the colour: "new", "gone", "in" and "thin", or "". */
const char *flame_mark_of(const struct picture *picture, uint32_t node,
			  const struct flame_box *box);

/* Where a place of the first layer is from the left. */
double flame_edge_px(const struct picture *picture, int64_t at);

/* Lists the legend. Returns how much there is; *ret_end_px is where more could stand. */
size_t flame_meanings(const struct picture *picture, struct flame_meaning ret[FLAME_MEANINGS_MAX],
		      uint32_t *ret_end_px);

/* Appends the rest of the legend of a pair. */
void flame_put_pair_words(struct picture *picture);

/* Appends a name, or as much of it as fits into some columns. */
void flame_put_label(struct picture *picture, const char *name, uint32_t columns);

/* Writes how a recording was made, as members of an object; "wick" is our version. */
void flame_put_recording(struct json *json, const struct profile *profile,
			 const struct flame_options *options);
/* What boxes may be coloured by: ratios of two values, as "ratios"; none for a pair. */
void flame_put_ratios(struct json *json, const struct profile *profile, bool pair);

/* Appends " · 1.2 s recorded · 3.4% lost …": what all of it, or both sides, are judged by. */
void flame_put_judgement(const struct profile *profile, const struct flame_options *options,
			 struct bytes *out);

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
