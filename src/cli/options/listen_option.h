/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_LISTEN_OPTION_H
#define WICK_CLI_OPTIONS_LISTEN_OPTION_H

/* listen_option: where a server listens: ADDRESS:PORT, [ADDRESS]:PORT, ADDRESS or :PORT. */

#include <stddef.h>
#include <stdint.h>

/* *port is the usual one at first, and stays without a PORT. 0 or -EINVAL. */
int listen_option_parse(const char *text, char *ret_address, size_t size, uint16_t *port);

/* [ADDRESS:]PORT: a number alone is a port. 0 or -EINVAL. */
int listen_option_parse_port(const char *text, char *ret_address, size_t size, uint16_t *ret_port);

#endif
