/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_FILTER_THREAD_STATE_H
#define WICK_LOAD_FILTER_THREAD_STATE_H

/*
 * thread_state: what a thread was doing when a sample was taken, by the sample's labels.
 */

#include <stddef.h>
#include <stdint.h>

struct dictionary;
struct label;

/* The key of the label that says it. */
#define THREAD_STATE_LABEL "state"

/* A letter of /proc/PID/stat in words; anything else is one already. */
const char *thread_state_in_words(const char *state);

/* What a set of labels says; "" when nothing. Valid as long as the dictionary. */
const char *thread_state_of(const struct dictionary *dictionary, uint32_t labels);

/* All labels of a set, the state in words; room for LABELS_MAX. Returns how many. */
size_t thread_state_labels(const struct dictionary *dictionary, uint32_t id, struct label *labels);

#endif
