/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_LABEL_LIST_H
#define WICK_SERVER_FILES_LABEL_LIST_H

/*
 * label_list: the values of a label over several recordings, with what they cost: "service" and
 * "type" of recordings, "process" and others of their threads. Initialise with zeros.
 */

#include "base/vec.h"
#include "store/store.h"

struct served_file;

struct label_list {
	VEC(struct store_item) items; /* texts are those of the files */
	VEC(char *) texts;            /* except these */
};

/* Adds what the selector means. Its time makes no difference. Returns 0 or -ENOMEM. */
int label_list_add_file(struct label_list *list, const struct served_file *file,
			const struct store_selector *selector, const char *label);

/* The most expensive first. */
void label_list_pass(struct label_list *list, store_item_fn each, void *self);
void label_list_fini(struct label_list *list);

/* Adds a whole file to one item, if the selector means it. */
void label_list_sum(struct store_item *item, const struct served_file *file,
		    const struct store_selector *selector);

#endif
