/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_PICTURE_H
#define WICK_VIEW_FLAME_FLAME_PICTURE_H

/*
 * flame_picture: shared by the files that draw a flame graph; internal to them.
 *
 * A picture has two views of the stacks (ways), as called and inverted, and one or more layers:
 * after and before in a comparison, else the value types that widths can show. The trees of all
 * layers of a way have the same nodes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "model/profile.h"
#include "view/flame/flame.h"
#include "view/flame/flame_change.h"
#include "view/flame/flame_layout.h"

/* The script uses the same numbers. */
#define ROW_PX 18
#define BOX_PX 17
#define MARGIN_PX 10
#define HEAD_PX 84
#define FOOT_PX 58
#define MAX_NAME_BYTES 4096 /* limit for a name in a tooltip; more would only enlarge the file */
#define TEXT_PX 3           /* from a box's edge to its label */
#define CHARACTER_PX 7.3    /* of a 12 px monospaced font, rounded up */

#define LAYER_AFTER 0 /* for a pair */
#define LAYER_BEFORE 1

struct call_tree;
struct error;
struct flame_swatch;
struct json;

struct flame_way {
	bool inverted;
	bool drawn; /* the script shows the other one on demand */
	struct call_tree *trees[PROFILE_MAX_VALUES];
	struct flame_layout layouts[PROFILE_MAX_VALUES];
	uint32_t rows; /* of the tallest layer */
	double scale;  /* pixels per unit of the first layer */
};

struct picture {
	const struct profile *profile;
	const struct flame_options *options;
	uint32_t layers[PROFILE_MAX_VALUES]; /* value types; the first is drawn */
	uint32_t layer_count;
	const char *unit; /* of the first layer */
	struct flame_way ways[2];
	struct flame_way *way;    /* the current one */
	struct flame_sides whole; /* of a pair; only after is set without one */
	uint32_t new_boxes;
	uint32_t gone_boxes;
	uint32_t *lines;   /* by function: its most expensive line; 0: unknown */
	uint32_t used;     /* bit set of the swatches drawn */
	struct bytes name; /* scratch */
	/* Appends a name, escaped for the output format. */
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

/* Whether widths are sample counts. */
bool flame_has_samples_alone(const struct picture *picture);

/*
 * Makes a picture, calls draw() to fill out, and releases everything. If draw() returns a negative
 * value without a text in err, it ran out of memory.
 */
int flame_picture_draw(const struct profile *profile, const struct flame_options *options,
		       int (*draw)(struct picture *picture, struct error *err), struct bytes *out,
		       struct error *err);

/* Builds the trees of a way and lays out their boxes; it becomes the current one. 0 or -ENOMEM. */
int flame_way_init(struct picture *picture, struct flame_way *way);
void flame_way_fini(struct flame_way *way);

/* Counts the functions of the current way that exist on only one side of a pair. */
void flame_count_changes(struct picture *picture);

/* Append the heading, and the line below it: the totals, and what is missing. */
void flame_put_heading(struct picture *picture);
void flame_put_about(struct picture *picture);

/* Appends the total of a layer: "cpu 1.2 s · 300 samples". */
void flame_put_whole(const struct picture *picture, uint32_t layer, struct bytes *out,
		     void (*put_name)(struct bytes *out, const char *name));

/* Appends the label of a box, cut to some columns; for a pair with the change. */
void flame_put_words(struct picture *picture, uint32_t node, const char *name, uint32_t columns);

/* Also marks the colour as used, for the legend. */
struct flame_paint flame_paint_of(struct picture *picture, uint32_t node);

/* Further marks of a box: "new", "gone", "in" and "thin", or "". */
const char *flame_mark_of(const struct picture *picture, uint32_t node,
			  const struct flame_box *box);

/* The distance of a position in the first layer from the left. */
double flame_edge_px(const struct picture *picture, int64_t at);

/* Lists the legend. Returns the number of entries; *ret_end_px is where more could follow. */
size_t flame_meanings(const struct picture *picture, struct flame_meaning ret[FLAME_MEANINGS_MAX],
		      uint32_t *ret_end_px);

/* Appends the rest of the legend for a pair. */
void flame_put_pair_words(struct picture *picture);

/* Appends a name, cut to some columns. */
void flame_put_label(struct picture *picture, const char *name, uint32_t columns);

/* Writes how a recording was made, as members of an object; "wick" is our version. */
void flame_put_recording(struct json *json, const struct profile *profile,
			 const struct flame_options *options);
/* Writes the ratios of two values that boxes can be coloured by, as "ratios"; none for a pair. */
void flame_put_ratios(struct json *json, const struct profile *profile, bool pair);

/* Appends " · 1.2 s recorded · 3.4% lost …": how far the profile, or both sides, can be trusted. */
void flame_put_judgement(const struct profile *profile, const struct flame_options *options,
			 struct bytes *out);

/* What tooltips show of a path: the file with its folder; for a module only the file. */
const char *flame_file_name(const char *path);
const char *flame_module_name(const char *path);

/* Classes of the palettes: by enum function_origin, enum language, and the self share. */
#define FLAME_ORIGINS 7
#define FLAME_LANGUAGES 10
#define FLAME_HEATS 7
struct flame_heat {
	double share; /* lower limit */
	const char *class;
};
extern const char *const flame_origin_classes[FLAME_ORIGINS];
extern const char *const flame_language_classes[FLAME_LANGUAGES];
extern const struct flame_heat flame_heats[FLAME_HEATS];

/* Hashes a name for its colour. */
uint32_t flame_hash(const char *text);

/* Appends how the recording and the picture were made. */
void flame_put_metadata(struct picture *picture);

/* Appends the boxes of the current way. */
void flame_put_boxes(struct picture *picture);

/* Appends how much of the current way is left out, if anything. */
void flame_put_note(struct picture *picture);

/* Appends the squares and words that explain the colours. */
void flame_put_legend(struct picture *picture);

/* The values of a node of the current way on both sides of a pair. */
struct flame_sides flame_sides_of(const struct picture *picture, uint32_t node);

#endif
