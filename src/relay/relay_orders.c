/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/relay_orders.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/bytes.h"

#define KEEP_S 600

void relay_orders_init(struct relay_orders *orders)
{
	*orders = (struct relay_orders){0};
	(void)pthread_mutex_init(&orders->lock, NULL); /* never fails on Linux */
}

/* Removes an order. With the lock. */
static void forget(struct relay_orders *orders, size_t i)
{
	free(orders->items.items[i].host);
	free(orders->items.items[i].burst);
	orders->items.items[i] = orders->items.items[--orders->items.count];
}

void relay_orders_fini(struct relay_orders *orders)
{
	while (orders->items.count > 0)
		forget(orders, 0);
	vec_fini(&orders->items);
	(void)pthread_mutex_destroy(&orders->lock);
}

static void forget_old(struct relay_orders *orders, uint64_t now_s)
{
	size_t i = 0;

	while (i < orders->items.count)
		if (orders->items.items[i].until_s < now_s)
			forget(orders, i);
		else
			i++;
}

/* With the lock. An order that cannot be kept is lost, like an answer that does not arrive. */
static void keep(struct relay_orders *orders, const json_t *told, uint64_t now_s)
{
	const char *host = json_string_value(json_object_get(told, "host"));
	const json_t *burst = json_object_get(told, "burst");
	struct relay_order order = {.until_s = now_s + KEEP_S};

	if (!host || !json_is_object(burst) || orders->items.count >= RELAY_ORDERS_MAX)
		return;
	order.host = strdup(host);
	order.burst = json_dumps(burst, JSON_COMPACT);
	if (!order.host || !order.burst || vec_push(&orders->items, order) < 0) {
		free(order.host);
		free(order.burst);
	}
}

void relay_orders_keep(struct relay_orders *orders, const char *answer, uint64_t now_s)
{
	json_t *root = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
	const json_t *list = json_object_get(root, "orders");
	size_t i;

	(void)pthread_mutex_lock(&orders->lock);
	forget_old(orders, now_s);
	for (i = 0; i < json_array_size(list); i++)
		keep(orders, json_array_get(list, i), now_s);
	(void)pthread_mutex_unlock(&orders->lock);
	json_decref(root);
}

void relay_orders_answer(struct relay_orders *orders, const char *host, uint64_t now_s,
			 struct bytes *out)
{
	size_t i;

	bytes_printf(out, "{\"relay\": true");
	(void)pthread_mutex_lock(&orders->lock);
	forget_old(orders, now_s);
	for (i = 0; i < orders->items.count; i++)
		if (strcmp(orders->items.items[i].host, host) == 0) {
			bytes_printf(out, ", \"burst\": %s", orders->items.items[i].burst);
			forget(orders, i);
			break;
		}
	(void)pthread_mutex_unlock(&orders->lock);
	bytes_printf(out, "}\n");
}
