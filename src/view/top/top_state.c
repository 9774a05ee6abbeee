/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_state.h"

#include <stdio.h>
#include <string.h>

#include "model/profile.h"
#include "view/top/top_model.h"

bool top_state_matches(const struct top_state *state, const char *name)
{
	return state->filter[0] == '\0' || strcasestr(name, state->filter) != NULL;
}

const char *top_state_focus(const struct top_state *state)
{
	return state->focus_count > 0 ? state->focus[state->focus_count - 1] : NULL;
}

void top_state_remember(char *place, const char *name)
{
	(void)snprintf(place, TOP_NAME_BYTES, "%s", name);
}

bool top_state_is(const char *remembered, const char *name)
{
	return strncmp(remembered, name, TOP_NAME_BYTES - 1) == 0;
}

static uint32_t function_at(const struct top_model *model, size_t row)
{
	return model->functions.items[row].function;
}

static const char *name_at(const struct top_model *model, size_t row)
{
	const struct profile *profile = model->profile;

	return profile_text(profile, profile->functions.items[function_at(model, row)].name);
}

static size_t row_count(const struct top_state *state, const struct top_model *model)
{
	return state->pane == TOP_THREADS ? model->threads.count : model->functions.count;
}

static void select_row(struct top_state *state, const struct top_model *model, size_t row)
{
	size_t count = row_count(state, model);

	state->selected = count == 0 ? 0 : row < count ? row : count - 1;
	state->follows = state->selected > 0;
	state->selected_name[0] = '\0';
	if (state->pane == TOP_FUNCTIONS && count > 0) {
		top_state_remember(state->selected_name, name_at(model, state->selected));
		state->selected_home =
			top_model_home(model->profile, function_at(model, state->selected));
	}
}

static bool is_chosen(const struct top_state *state, const struct top_model *model, size_t row)
{
	return row < model->functions.count &&
	       top_state_is(state->selected_name, name_at(model, row)) &&
	       state->selected_home == top_model_home(model->profile, function_at(model, row));
}

void top_state_follow(struct top_state *state, const struct top_model *model)
{
	size_t count = row_count(state, model);

	if (state->pane == TOP_FUNCTIONS && state->follows &&
	    !is_chosen(state, model, state->selected))
		for (size_t i = 0; i < count; i++)
			if (is_chosen(state, model, i)) {
				state->selected = i;
				break;
			}
	if (state->selected >= count)
		state->selected = count > 0 ? count - 1 : 0;
}

static void move_rows(struct top_state *state, const struct top_model *model, uint32_t key,
		      size_t page)
{
	size_t at = state->selected;

	if (key == TOP_KEY_UP)
		select_row(state, model, at > 0 ? at - 1 : 0);
	else if (key == TOP_KEY_DOWN)
		select_row(state, model, at + 1);
	else if (key == TOP_KEY_PAGE_UP)
		select_row(state, model, at > page ? at - page : 0);
	else if (key == TOP_KEY_PAGE_DOWN)
		select_row(state, model, at + page);
	else if (key == TOP_KEY_HOME)
		select_row(state, model, 0);
	else if (key == TOP_KEY_END)
		select_row(state, model, row_count(state, model));
}

static void choose_box(struct top_state *state, const struct top_model *model, size_t box)
{
	state->box_depth = model->boxes.items[box].depth;
	state->box_path = top_model_path(model, box);
	top_state_remember(state->box_name,
			   box == 0 ? "" : top_model_box_name(model, &model->boxes.items[box]));
}

/* The widest child of a box, or the box itself if it has none. */
static size_t widest_child(const struct top_model *model, size_t box)
{
	size_t best = box;

	for (size_t i = box + 1; i < model->boxes.count; i++)
		if (model->boxes.items[i].parent == box &&
		    (best == box || model->boxes.items[i].total > model->boxes.items[best].total))
			best = i;
	return best;
}

/* Boxes of one depth are adjacent, from left to right. */
static void move_box(struct top_state *state, const struct top_model *model, uint32_t key)
{
	size_t at = top_model_chosen_box(model, state);
	const struct top_box *boxes = model->boxes.items;
	size_t to = at;

	if (model->boxes.count == 0)
		return;
	if (key == TOP_KEY_UP)
		to = boxes[at].parent;
	else if (key == TOP_KEY_DOWN)
		to = widest_child(model, at);
	else if (key == TOP_KEY_LEFT && at > 0 && boxes[at - 1].depth == boxes[at].depth)
		to = at - 1;
	else if (key == TOP_KEY_RIGHT && at + 1 < model->boxes.count &&
		 boxes[at + 1].depth == boxes[at].depth)
		to = at + 1;
	choose_box(state, model, to);
}

static void zoom(struct top_state *state, const char *name)
{
	if (top_state_focus(state) && top_state_is(top_state_focus(state), name))
		return;
	if (state->focus_count == TOP_FOCUS_MAX)
		state->focus_count--;
	top_state_remember(state->focus[state->focus_count++], name);
	state->selected = state->first = 0;
	state->follows = false;
	state->box_depth = 0;
	state->box_name[0] = '\0';
}

static void enter(struct top_state *state, const struct top_model *model)
{
	if (state->pane == TOP_THREADS) {
		if (state->selected < model->threads.count)
			state->thread = model->profile->threads
						.items[model->threads.items[state->selected].thread]
						.tid;
		state->pane = TOP_FUNCTIONS;
		state->filter[0] = '\0'; /* it was a filter of threads */
		state->selected = state->first = 0;
		return;
	}
	if (state->pane == TOP_FUNCTIONS && state->selected < model->functions.count)
		zoom(state, name_at(model, state->selected));
	if (state->pane == TOP_FLAME && state->box_name[0])
		zoom(state, state->box_name);
}

/* Undoes the last thing that narrowed the view. */
static void go_back(struct top_state *state)
{
	if (state->help)
		state->help = false;
	else if (state->focus_count > 0)
		state->focus_count--;
	else if (state->thread != 0)
		state->thread = 0;
	else
		state->filter[0] = '\0';
	state->selected = state->first = 0;
	state->follows = false;
	state->box_depth = 0;
	state->box_name[0] = '\0';
}

static void show(struct top_state *state, enum top_pane pane)
{
	state->pane = pane;
	state->selected = state->first = 0;
	state->follows = false;
}

/* Bytes of UTF-8 arrive one by one; backspace removes a whole character. */
static void type(struct top_state *state, uint32_t key)
{
	size_t length = strlen(state->filter);

	if (key == TOP_KEY_ENTER) {
		state->typing = false;
	} else if (key == TOP_KEY_ESCAPE) {
		state->typing = false;
		memcpy(state->filter, state->old_filter, sizeof(state->filter));
	} else if (key == TOP_KEY_BACKSPACE) {
		while (length > 0 && ((uint8_t)state->filter[length - 1] & 0xc0) == 0x80)
			length--;
		state->filter[length > 0 ? length - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 0x100 && key != 0x7f && length + 1 < TOP_FILTER_BYTES) {
		state->filter[length] = (char)key;
		state->filter[length + 1] = '\0';
	}
	state->selected = state->first = 0;
	state->follows = false;
}

static void press(struct top_state *state, uint32_t key)
{
	switch (key) {
	case 'q':
		state->quit = true;
		break;
	case '?':
	case 'h':
		state->help = !state->help;
		break;
	case 'p':
	case ' ':
		state->paused = !state->paused;
		break;
	case 'w':
		state->since_start = !state->since_start;
		break;
	case 'r':
		state->restart = true;
		break;
	case 's':
		state->sort = (state->sort + 1) % TOP_SORTS;
		break;
	case '/':
		state->typing = true;
		memcpy(state->old_filter, state->filter, sizeof(state->filter));
		break;
	case '1':
	case '2':
	case '3':
		show(state, (enum top_pane)(key - '1'));
		break;
	case TOP_KEY_TAB:
		show(state, (state->pane + 1) % TOP_PANES);
		break;
	case TOP_KEY_BACKSPACE:
	case TOP_KEY_ESCAPE:
		go_back(state);
		break;
	default:
		break;
	}
}

void top_state_key(struct top_state *state, const struct top_model *model, uint32_t key,
		   size_t page)
{
	if (state->typing) {
		type(state, key);
		return;
	}
	if (key == 'k')
		key = TOP_KEY_UP;
	if (key == 'j')
		key = TOP_KEY_DOWN;
	if (key == TOP_KEY_ENTER)
		enter(state, model);
	else if (key >= TOP_KEY_UP && key <= TOP_KEY_END && state->pane == TOP_FLAME)
		move_box(state, model, key);
	else if (key >= TOP_KEY_UP && key <= TOP_KEY_END)
		move_rows(state, model, key, page);
	else
		press(state, key);
}
