/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_DICTIONARY_H
#define WICK_MODEL_DICTIONARY_H

/*
 * dictionary: what samples refer to by id, each stored once.
 *
 * A recorder fills one while it watches; a reader fills one from a file. Ids are dense from 0 and
 * never change. Equal objects get equal ids.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/entity.h"
#include "model/label_sets.h"
#include "model/stack_tree.h"
#include "model/strings.h"

struct dictionary {
	struct strings strings;
	VEC(struct module) modules; /* text members point into strings */
	VEC(struct process) processes;
	VEC(struct thread) threads;
	VEC(struct place) places;
	VEC(struct frame) frames;
	struct stack_tree stacks; /* frame = index into frames */
	struct label_sets labels; /* texts are ids of strings */

	/* private */
	struct id_index module_index;
	struct id_index process_index;
	struct id_index thread_index;
	struct id_index place_index;
	struct id_index frame_index;   /* except frames of places */
	VEC(uint32_t) place_frames;    /* by place: its frame without an address */
	VEC(struct frame) last_frames; /* of the latest stack, whose callers the next one shares */
	VEC(uint32_t) last_nodes;      /* and the nodes of these frames */
};

int dictionary_init(struct dictionary *dictionary); /* 0 or -ENOMEM */
void dictionary_fini(struct dictionary *dictionary);

/* Each returns the id, created when missing; ID_NONE if out of memory. Text is copied. */
uint32_t dictionary_module(struct dictionary *dictionary, const struct module *module);
uint32_t dictionary_process(struct dictionary *dictionary, const struct process *process);
uint32_t dictionary_thread(struct dictionary *dictionary, const struct thread *thread);
uint32_t dictionary_place(struct dictionary *dictionary, const struct place *place);
/* The same for texts that are the dictionary's own, which need not be looked up. */
uint32_t dictionary_own_place(struct dictionary *dictionary, const struct place *place);
uint32_t dictionary_frame(struct dictionary *dictionary, struct frame frame);

/* The stack of n frames, the root first. 0 is the empty stack. */
uint32_t dictionary_stack(struct dictionary *dictionary, const struct frame *frames, size_t n);

/*
 * Forgets all stacks: their ids, and those of frames, become invalid. With keep_named, frames of
 * the kernel and of compiled code stay, with new ids: their names are looked up at the end. 0 or
 * -ENOMEM.
 */
int dictionary_forget_stacks(struct dictionary *dictionary, bool keep_named);

/*
 * The set of n labels in any order; of equal keys the last counts. 0 without labels. ID_NONE also
 * for more than LABELS_MAX.
 */
uint32_t dictionary_labels(struct dictionary *dictionary, const struct label *labels, size_t n);

#endif
