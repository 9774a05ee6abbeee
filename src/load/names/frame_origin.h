/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_FRAME_ORIGIN_H
#define WICK_LOAD_NAMES_FRAME_ORIGIN_H

/* frame_origin: what a frame of a recording belongs to. */

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"
#include "symbol/symboliser.h"

struct dictionary;
struct frame;
struct module;

/* The module of a frame, or NULL. Only code in files and in the kernel has one. */
const struct module *frame_module(const struct dictionary *dictionary, const struct frame *frame);

enum function_origin frame_origin(const struct dictionary *dictionary, const struct frame *frame,
				  enum symbol_quality quality);

/* Whether it is a kernel frame, by its address or as an imported file says. */
bool frame_is_kernel(const struct dictionary *dictionary, const struct frame *frame);

/* Whether all frames have their names in the recording. */
bool frames_are_places(const struct dictionary *dictionary);

/* The placeholder for frames whose names are not in the recording. */
const struct symbol_frame *frame_placeholder(uint32_t kind);

#endif
