/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/diff/diff_gate.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/expression.h"
#include "base/json.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/function_cost.h"
#include "model/profile.h"
#include "view/diff/diff.h"

#define MAX_GATE_BYTES 4096u
#define MAX_LIMIT_PERCENT 1000000.0

/* Syntax */

static int refuse(const char *text, const char *why, struct error *err)
{
	(void)error_set(err, -EINVAL, "invalid gate %.200s: %s", text, why);
	error_remedy(err, "the form is 'FUNCTION>+5%%', 'self:FUNCTION>+5%%', 'FUNCTION>+2pp', "
			  "'/REGEX/>+5%%', 'total>+3%%' or 'rate>+3%%'");
	return -EINVAL;
}

static void trim(const char **begin, const char **end)
{
	while (*begin < *end && **begin == ' ')
		(*begin)++;
	while (*end > *begin && (*end)[-1] == ' ')
		(*end)--;
}

static bool ends_in(const char *begin, const char *end, const char *suffix)
{
	size_t n = strlen(suffix);

	return (size_t)(end - begin) > n && memcmp(end - n, suffix, n) == 0;
}

/* "+5%", "5 %" or "+2pp" */
static int parse_limit(struct diff_gate *gate, const char *begin, const char *end,
		       struct error *err)
{
	char digits[32] = "";
	double percent;

	trim(&begin, &end);
	gate->points = ends_in(begin, end, "pp");
	if (!gate->points && !ends_in(begin, end, "%"))
		return refuse(gate->text, "expected a limit in % or pp after the >", err);
	end -= gate->points ? 2 : 1;
	if (*begin == '+')
		begin++;
	trim(&begin, &end);
	if (begin == end || *begin == '-' || *begin == '+' ||
	    (size_t)(end - begin) >= sizeof(digits))
		return refuse(gate->text, "the limit is not a number of 0 or more", err);
	memcpy(digits, begin, (size_t)(end - begin));
	if (number_parse_double(digits, &percent) < 0 || percent > MAX_LIMIT_PERCENT)
		return refuse(gate->text, "the limit is not a number of 0 or more", err);
	gate->limit = percent / 100;
	return 0;
}

static bool is_word(const char *begin, const char *end, const char *word)
{
	return (size_t)(end - begin) == strlen(word) && memcmp(begin, word, strlen(word)) == 0;
}

static int parse_subject(struct diff_gate *gate, const char *begin, const char *end,
			 struct error *err)
{
	trim(&begin, &end);
	if (is_word(begin, end, "total"))
		gate->subject = GATE_TOTAL;
	else if (is_word(begin, end, "rate"))
		gate->subject = GATE_RATE;
	if (gate->subject != GATE_FUNCTION && gate->points)
		return refuse(gate->text,
			      "total and rate are not shares and cannot have a limit in pp", err);
	if (end - begin >= 5 && memcmp(begin, "self:", 5) == 0) {
		gate->self = true;
		begin += 5;
		trim(&begin, &end);
	}
	if (end - begin > 2 && *begin == '/' && end[-1] == '/') {
		gate->is_expression = true;
		begin++;
		end--;
	}
	if (begin == end)
		return refuse(gate->text, "expected a function before the >", err);
	gate->name = strndup(begin, (size_t)(end - begin));
	return gate->name ? 0 : error_set(err, -ENOMEM, "out of memory");
}

int diff_gate_parse(const char *text, struct diff_gate *ret, struct error *err)
{
	struct diff_gate gate = {.text = text};
	const char *sign = strrchr(text, '>'); /* the last one: names have others */
	int r;

	if (strlen(text) > MAX_GATE_BYTES)
		return refuse(text, "longer than 4096 bytes", err);
	if (!sign)
		return refuse(text, "missing >", err);
	r = parse_limit(&gate, sign + 1, text + strlen(text), err);
	if (r == 0)
		r = parse_subject(&gate, text, sign, err);
	if (r == 0)
		*ret = gate;
	return r;
}

int diff_gate_init(struct diff_gate *gate, const char *text, struct error *err)
{
	char reason[EXPRESSION_REASON];
	int r = diff_gate_parse(text, gate, err);

	if (r < 0 || !gate->is_expression)
		return r;
	if (expression_compile(&gate->expression, gate->name, reason) == 0) {
		gate->compiled = true;
		return 0;
	}
	diff_gate_fini(gate);
	return refuse(text, reason, err);
}

void diff_gate_fini(struct diff_gate *gate)
{
	if (gate->compiled)
		regfree(&gate->expression);
	free(gate->name);
	*gate = (struct diff_gate){0};
}

/* Checking */

/* A name without arguments matches any arguments. */
static bool matches(const struct diff_gate *gate, const char *name)
{
	size_t n = strlen(gate->name);

	if (gate->compiled)
		return regexec(&gate->expression, name, 0, NULL, 0) == 0;
	return strncmp(name, gate->name, n) == 0 && (name[n] == '\0' || name[n] == '(');
}

static void add_name(struct diff_verdict *verdict, const char *name)
{
	size_t used = strlen(verdict->names);

	/* A cut text is fine. */
	(void)snprintf(verdict->names + used, sizeof(verdict->names) - used, "%s%.60s",
		       used ? ", " : "", name);
}

/* Finds the functions of both sides that match the gate. */
static void find_functions(const struct diff *diff, struct diff_verdict *verdict, uint32_t *rows)
{
	const struct profile *both = diff->pair.both;
	size_t i;

	for (i = 0; i < both->functions.count; i++) {
		const char *name = profile_text(both, both->functions.items[i].name);
		bool there = diff->costs[0].rows[i].total.weight != 0 ||
			     diff->costs[1].rows[i].total.weight != 0;

		rows[i] = matches(verdict->gate, name) ? 0 : ID_NONE;
		if (rows[i] != 0 || !there)
			continue;
		if (verdict->functions++ < 3)
			add_name(verdict, name);
	}
}

/* The total cost of the functions on one side: a stack with several of them counts once. */
static int estimate_side(const struct diff *diff, int side, const struct diff_gate *gate,
			 const uint32_t *rows, struct estimate *ret)
{
	size_t functions = diff->sides[side]->functions.count;
	SCOPED(mem) uint32_t *row_of = calloc(functions + 1, sizeof(*row_of));
	struct cost_table table;
	const struct cost *cost;
	size_t i;

	if (!row_of)
		return -ENOMEM;
	for (i = 0; i < functions; i++)
		row_of[i] = rows[diff->pair.functions[side][i]];
	if (cost_table_init(&table, diff->sides[side], diff->values[side], row_of, 1) < 0)
		return -ENOMEM;
	cost = gate->self ? &table.rows[0].self : &table.rows[0].total;
	/* Points are of shares, whatever else is compared. */
	*ret = gate->points ? estimate_share(cost, &table) : diff_estimate(diff, cost, &table);
	cost_table_fini(&table);
	return 0;
}

/*
 * If a program was rebuilt after the recording, its symbols are lost: all of its functions would be
 * new or gone, and the result of a gate would be meaningless.
 */
static int check_names(const struct diff *diff, const struct diff_gate *gate, struct error *err)
{
	int i;

	for (i = 0; i < 2; i++) {
		const struct profile_quality *quality = &diff->sides[i]->quality;

		if (quality->unsymbolised <= quality->samples / 2)
			continue;
		(void)error_set(
			err, -ENODATA,
			"cannot check the gate %.200s: %s of the samples of %s have no symbol",
			gate->text,
			quantity_share((int64_t)quality->unsymbolised, (int64_t)quality->samples)
				.text,
			diff->names[i]);
		error_remedy(err, "if the program was rebuilt, give the directory of the old build "
				  "with --symbol-path DIR");
		return -ENODATA;
	}
	return 0;
}

static int check_functions(const struct diff *diff, struct diff_verdict *verdict, struct error *err)
{
	SCOPED(mem)
	uint32_t *rows = calloc(diff->pair.both->functions.count + 1, sizeof(*rows));
	int r = check_names(diff, verdict->gate, err);

	if (r < 0)
		return r;
	if (rows)
		find_functions(diff, verdict, rows);
	if (!rows || estimate_side(diff, 0, verdict->gate, rows, &verdict->before) < 0 ||
	    estimate_side(diff, 1, verdict->gate, rows, &verdict->after) < 0)
		return error_set(err, -ENOMEM, "cannot check a gate: no memory");
	return 0;
}

static int check_whole(const struct diff *diff, struct diff_verdict *verdict, struct error *err)
{
	struct estimate *places[2] = {&verdict->before, &verdict->after};
	int i;

	verdict->absolute = true;
	for (i = 0; i < 2; i++) {
		double seconds = (double)profile_recorded_ns(diff->sides[i]) / 1e9;

		*places[i] = estimate_amount(&diff->costs[i].whole, &diff->costs[i]);
		if (verdict->gate->subject != GATE_RATE)
			continue;
		if (seconds <= 0) {
			(void)error_set(err, -EINVAL, "%s has no duration, so it has no rate",
					diff->names[i]);
			error_remedy(err, "compare the total instead: --fail-if 'total>…'");
			return -EINVAL;
		}
		*places[i] = estimate_scaled(*places[i], 1 / seconds);
	}
	return 0;
}

int diff_gate_check(const struct diff_gate *gate, const struct diff *diff, double wanted,
		    struct diff_verdict *ret, struct error *err)
{
	struct diff_verdict verdict = {
		.gate = gate,
		.absolute = diff->absolute && !gate->points,
		.exact = diff->exact,
		.unit = diff->sides[1]->value_types[diff->values[1]].unit,
		.wanted = wanted,
	};
	int r = gate->subject == GATE_FUNCTION ? check_functions(diff, &verdict, err)
					       : check_whole(diff, &verdict, err);

	if (r < 0)
		return r;
	verdict.confidence = significance_more(&verdict.before, &verdict.after,
					       gate->points ? 1 : 1 + gate->limit,
					       gate->points ? gate->limit : 0);
	verdict.tripped = verdict.confidence >= wanted;
	*ret = verdict;
	return 0;
}

/* Words */

static void put_subject(const struct diff_verdict *verdict, struct bytes *out)
{
	const struct diff_gate *gate = verdict->gate;

	if (gate->subject == GATE_TOTAL)
		bytes_printf(out, "the total");
	else if (gate->subject == GATE_RATE)
		bytes_printf(out, "rate per second");
	else
		text_put_terminal(out, verdict->names);
	if (verdict->functions > 3)
		bytes_printf(out, " and %zu more", verdict->functions - 3);
	if (gate->self)
		bytes_printf(out, " (self)");
}

static void put_value(const struct diff_verdict *verdict, double value, struct bytes *out)
{
	if (verdict->absolute)
		bytes_printf(out, "%s", quantity_of((int64_t)value, verdict->unit).text);
	else
		bytes_printf(out, "%.2f%%", 100 * value);
}

bool diff_verdict_is_judged(const struct diff_verdict *verdict)
{
	return verdict->gate->subject != GATE_FUNCTION || verdict->functions > 0;
}

void diff_verdict_put(const struct diff_verdict *verdict, struct bytes *out)
{
	const struct diff_gate *gate = verdict->gate;
	double old = verdict->before.value;
	double now = verdict->after.value;
	double limit = gate->points ? old + gate->limit : old * (1 + gate->limit);

	bytes_printf(out, "gate ");
	text_put_terminal(out, gate->text);
	if (!diff_verdict_is_judged(verdict)) {
		bytes_printf(out, " cannot be checked: no function in either profile %s ",
			     gate->is_expression ? "matches" : "is named");
		text_put_terminal(out, gate->name);
		return;
	}
	bytes_printf(out, "%s: ", verdict->tripped ? " tripped" : " holds");
	put_subject(verdict, out);
	bytes_printf(out, ": ");
	put_value(verdict, old, out);
	bytes_printf(out, " before, ");
	put_value(verdict, now, out);
	bytes_printf(out, " after (");
	if (!verdict->absolute)
		bytes_printf(out, "%s, ", quantity_points(now - old).text);
	bytes_printf(out, "%s); ", quantity_relative(old, now).text);
	if (now <= limit)
		bytes_printf(out, "not above the limit");
	else if (verdict->exact)
		bytes_printf(out, "above the limit; the numbers are treated as exact");
	else
		bytes_printf(out, "above the limit with %s confidence",
			     quantity_confidence(verdict->confidence).text);
	if (now > limit && !verdict->tripped)
		bytes_printf(out, ", below the required %g%%: it may be noise",
			     100 * verdict->wanted);
}

void diff_verdict_json(const struct diff_verdict *verdict, struct json *json)
{
	double old = verdict->before.value;
	double now = verdict->after.value;

	json_open_object(json, NULL);
	json_string(json, "gate", verdict->gate->text);
	json_bool(json, "tripped", verdict->tripped);
	json_string(json, "unit", verdict->absolute ? verdict->unit : "percent");
	json_double(json, "before", verdict->absolute ? old : 100 * old, 3);
	json_double(json, "after", verdict->absolute ? now : 100 * now, 3);
	if (old > 0)
		json_double(json, "change_percent", 100 * (now / old - 1), 3);
	else
		json_string(json, "change_percent", NULL);
	json_double(json, "confidence", 100 * verdict->confidence, 3);
	json_u64(json, "functions", verdict->functions);
	json_close(json);
}
