/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_FILTER_THREAD_STATE_H
#define WICK_LOAD_FILTER_THREAD_STATE_H

/* thread_state: what a thread was doing when a sample was taken, from the sample's labels. */

#include <stddef.h>
#include <stdint.h>

struct dictionary;
struct label;

/* The key of the label. */
#define THREAD_STATE_LABEL "state"

/* Spells out a state letter of /proc/PID/stat; returns anything else unchanged. */
const char *thread_state_in_words(const char *state);

/* The state in a set of labels, "" if none. Valid as long as the dictionary. */
const char *thread_state_of(const struct dictionary *dictionary, uint32_t labels);

/*
 * All labels of a set, with the state spelled out; `labels` has room for LABELS_MAX. Returns how
 * many.
 */
size_t thread_state_labels(const struct dictionary *dictionary, uint32_t id, struct label *labels);

#endif
