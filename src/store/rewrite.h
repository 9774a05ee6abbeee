/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_REWRITE_H
#define WICK_STORE_REWRITE_H

/*
 * rewrite: the rows of one hour, wherever they are, become one sorted Parquet file.
 *
 * The file is complete and on disk under its final name before a transaction lists it, drops the
 * tables and unlists the files that it replaces. Whatever is interrupted, each row is in exactly
 * one listed place; what is not listed is removed when the store is opened.
 */

#include <stdint.h>

struct error;
struct embedded;

/*
 * If step_s is not 0, rows are merged into buckets of that many seconds. Called by one thread at a
 * time, without locks.
 */
int rewrite_hour(struct embedded *store, uint32_t hour_s, uint32_t step_s, struct error *err);

#endif
