/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "net/http_server.h"
#include "server/query_time.h"
#include "server/source.h"

/* The selector points into the query itself, which must not be copied. */
static void connect(struct query *query)
{
	query->selector.type = query->type;
	query->selector.matches = query->labels.matches;
	query->selector.match_count = query->labels.count;
}

static int set_type(struct query *query, const char *type, struct error *err)
{
	if (type && strlen(type) >= sizeof(query->type)) {
		(void)error_set(err, -EINVAL, "type %.80s is too long", type);
		error_remedy(err, "list the types: wick query --types");
		return -EINVAL;
	}
	(void)snprintf(query->type, sizeof(query->type), "%s", type ? type : "cpu"); /* it fits */
	return 0;
}

static int set_range(struct query *query, uint64_t from_s, uint64_t to_s, struct error *err)
{
	if (to_s <= from_s) {
		(void)error_set(err, -EINVAL, "the range of time ends before it begins");
		error_remedy(err, "--from must be before --to, for example --from -2h --to -1h");
		return -EINVAL;
	}
	query->selector.from_s = (uint32_t)from_s;
	query->selector.to_s = to_s > UINT32_MAX ? UINT32_MAX : (uint32_t)to_s;
	return 0;
}

int query_set(struct query *query, const char *selector, const char *type, uint64_t from_s,
	      uint64_t to_s, struct error *err)
{
	int r = selector_parse(&query->labels, selector, err);

	query->now_s = clock_realtime_ns() / NS_PER_SEC;
	if (r == 0)
		r = set_type(query, type, err);
	if (r == 0)
		r = set_range(query, from_s, to_s, err);
	connect(query);
	return r;
}

static int read_time(const struct http_call *request, const char *name, uint64_t now_s,
		     uint64_t usual_s, uint64_t *ret_s, struct error *err)
{
	const char *text = http_call_query(request, name);

	*ret_s = usual_s;
	if (!text || !*text)
		return 0;
	return query_time_parse(text, now_s, ret_s, err);
}

static int copy_labels(struct query *query, const struct query *other, struct error *err)
{
	size_t i;
	int r = query_set(query, "", other->selector.type, 0, 1, err);

	for (i = 0; i < other->labels.count && r == 0; i++) {
		const struct store_match *match = &other->labels.matches[i];

		r = selector_add(&query->labels, match->name, match->kind, match->value, err);
	}
	connect(query);
	return r;
}

/* The labels: those of the request, or of the other query. */
static int read_labels(struct query *query, const struct http_call *request,
		       const struct query_names *names, struct error *err)
{
	const char *selector = http_call_query(request, names->query);
	const char *type = http_call_query(request, "type");

	if (!selector && names->otherwise)
		return copy_labels(query, names->otherwise, err) < 0 ? -E2BIG : 0;
	/* What is usual differs between recordings. */
	if (!type && names->source && names->source->ops->range)
		type = "";
	return query_set(query, selector ? selector : "", type ? type : names->type, 0, 1, err);
}

int query_read_as(struct query *query, const struct http_call *request,
		  const struct query_names *names, struct error *err)
{
	const struct query *other = names->otherwise;
	struct source *source = names->source;
	bool own = source && source->ops->range;
	uint64_t from_s = 0;
	uint64_t to_s = 0;
	int r = read_labels(query, request, names, err);

	if (r < 0)
		return r;
	/* What was pushed in this second is included. */
	to_s = query->now_s + 1;
	if (own)
		source->ops->range(source, query->labels.matches, query->labels.count, &from_s,
				   &to_s);
	query->now_s = own ? to_s : query->now_s;
	/* Another recording has a time of its own. */
	if (other && !(own && http_call_query(request, names->query))) {
		from_s = other->selector.from_s;
		to_s = other->selector.to_s;
	}
	r = read_time(request, names->to, query->now_s, to_s, &to_s, err);
	if (r == 0 && !own && !other)
		from_s = to_s > QUERY_DEFAULT_S ? to_s - QUERY_DEFAULT_S : 0;
	if (r == 0)
		r = read_time(request, names->from, query->now_s, from_s, &from_s, err);
	return r < 0 ? r : set_range(query, from_s, to_s, err);
}

int query_read(struct query *query, struct source *source, const struct http_call *request,
	       const char *type, struct error *err)
{
	return query_read_as(query, request,
			     &(struct query_names){"query", "from", "to", type, NULL, source}, err);
}

int query_require(struct query *query, const char *label, const char *value, struct error *err)
{
	int r = selector_add(&query->labels, label, MATCH_EQUAL, value, err);

	connect(query);
	return r;
}

int query_number(const struct http_call *request, const char *name, uint64_t usual, uint64_t max,
		 uint64_t *ret, struct error *err)
{
	const char *text = http_call_query(request, name);

	*ret = usual;
	if (!text || (number_parse_u64(text, ret) == 0 && *ret >= 1 && *ret <= max))
		return 0;
	(void)error_set(err, -EINVAL, "%s is not a number between 1 and %" PRIu64, name, max);
	error_remedy(err, "leave it out to get %" PRIu64, usual);
	return -EINVAL;
}
