/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/names_tables.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "store/database.h"

const char names_tables_sql[] =
	"CREATE TABLE IF NOT EXISTS functions (id UINTEGER, name VARCHAR, file VARCHAR, "
	"module VARCHAR, origin UINTEGER);"
	"CREATE TABLE IF NOT EXISTS locations (id UINTEGER, module VARCHAR, build_id VARCHAR, "
	"vaddr UBIGINT, unnamed BOOLEAN);"
	"CREATE TABLE IF NOT EXISTS lines (location UINTEGER, position UINTEGER, "
	"function UINTEGER, line UINTEGER, file VARCHAR);"
	"CREATE TABLE IF NOT EXISTS stacks (id UINTEGER, parent UINTEGER, location UINTEGER);"
	"CREATE TABLE IF NOT EXISTS calls (function UINTEGER, stack UINTEGER, leaf BOOLEAN);"
	"CREATE TABLE IF NOT EXISTS stack_days (stack UINTEGER, day UINTEGER);";

static uint32_t read_text(struct names *names, const struct answer *answer, unsigned int column,
			  size_t row)
{
	const char *text;
	size_t n = answer_text(answer, column, row, &text);

	return strings_add_n(&names->profile->strings, text, n);
}

static int out_of_order(const char *table, struct error *err)
{
	(void)error_set(err, -EBADMSG, "the table %s of the store is not complete", table);
	error_remedy(err,
		     "restore the file store.duckdb from a backup, or start with a new folder");
	return -EBADMSG;
}

/*
 * The next chunk of a table is handed to its reader, which returns 0 or a negative errno. Rows are
 * sorted by id. One that is there twice was written again after a commit that reported a failure
 * and had succeeded: it says the same.
 */
typedef int (*read_chunk_fn)(struct names *names, const struct answer *answer);

static int read_functions(struct names *names, const struct answer *answer)
{
	const uint32_t *id = answer_column(answer, 0);
	const uint32_t *origin = answer_column(answer, 4);
	size_t i;

	for (i = 0; i < answer->count; i++) {
		uint32_t name = read_text(names, answer, 1, i);
		uint32_t file = read_text(names, answer, 2, i);
		uint32_t module = read_text(names, answer, 3, i);
		uint32_t got;

		if (name == ID_NONE || file == ID_NONE || module == ID_NONE)
			return -ENOMEM;
		/* Equal functions have equal ids, also the second time. */
		got = profile_function(names->profile, profile_text(names->profile, name),
				       profile_text(names->profile, file),
				       profile_text(names->profile, module), origin[i]);
		if (got != id[i])
			return got == ID_NONE ? -ENOMEM : -EBADMSG;
	}
	return 0;
}

/* A location is read with its lines: one row for each, of which the first begins the location. */
static int read_locations(struct names *names, const struct answer *answer)
{
	const uint32_t *id = answer_column(answer, 0);
	const uint64_t *vaddr = answer_column(answer, 3);
	const bool *unnamed = answer_column(answer, 4);
	size_t i;

	for (i = 0; i < answer->count; i++) {
		struct names_location location = {.vaddr = vaddr[i], .is_unnamed = unnamed[i]};

		if (id[i] + 1 == names->locations.count)
			continue;
		if (id[i] != names->locations.count)
			return -EBADMSG;
		location.module = read_text(names, answer, 1, i);
		location.build_id = read_text(names, answer, 2, i);
		if (location.module == ID_NONE || location.build_id == ID_NONE ||
		    vec_push(&names->locations, location) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_lines(struct names *names, const struct answer *answer)
{
	const uint32_t *location = answer_column(answer, 0);
	const uint32_t *position = answer_column(answer, 1);
	const uint32_t *function = answer_column(answer, 2);
	const uint32_t *line = answer_column(answer, 3);
	struct profile *profile = names->profile;
	size_t i;

	for (i = 0; i < answer->count; i++) {
		struct profile_line item = {.function = function[i], .line = line[i]};
		struct names_location *of;

		if (location[i] >= names->locations.count ||
		    function[i] >= profile->functions.count)
			return -EBADMSG;
		of = &names->locations.items[location[i]];
		if (position[i] < of->line_count)
			continue;
		if (of->line_count++ == 0)
			of->first_line = (uint32_t)profile->lines.count;
		item.file = read_text(names, answer, 4, i);
		if (item.file == ID_NONE || vec_push(&profile->lines, item) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_stacks(struct names *names, const struct answer *answer)
{
	const uint32_t *id = answer_column(answer, 0);
	const uint32_t *parent = answer_column(answer, 1);
	const uint32_t *location = answer_column(answer, 2);
	struct stack_tree *stacks = &names->profile->stacks;
	size_t i;

	for (i = 0; i < answer->count; i++) {
		uint32_t got;

		if (parent[i] >= id[i] || location[i] >= names->locations.count)
			return -EBADMSG;
		if (id[i] + 1 == stacks->nodes.count)
			continue;
		while (stacks->nodes.count < id[i])
			if (names_skip_stack(names) < 0)
				return -ENOMEM;
		got = stack_tree_append(stacks, parent[i], location[i]);
		if (got != id[i])
			return got == ID_NONE ? -ENOMEM : -EBADMSG;
		if (vec_push(&names->used_days, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool is_stack(const struct names *names, uint32_t id)
{
	return id < names->used_days.count &&
	       names->profile->stacks.nodes.items[id].frame != ID_NONE;
}

static int read_days(struct names *names, const struct answer *answer)
{
	const uint32_t *stack = answer_column(answer, 0);
	const uint32_t *day = answer_column(answer, 1);
	size_t i;

	for (i = 0; i < answer->count; i++) {
		if (!is_stack(names, stack[i]) || day[i] == 0 || day[i] > UINT16_MAX)
			return -EBADMSG;
		names->used_days.items[stack[i]] = (uint16_t)day[i];
		names->used_count++;
	}
	return 0;
}

static int read_used(struct names *names, const struct answer *answer)
{
	const uint32_t *stack = answer_column(answer, 0);
	size_t i;

	for (i = 0; i < answer->count; i++) {
		if (!is_stack(names, stack[i]))
			return -EBADMSG;
		/* Of an older wick, which did not note days: it counts as used today. */
		if (names->used_days.items[stack[i]] == 0 &&
		    (vec_push(&names->new_days, stack[i]) < 0))
			return -ENOMEM;
		if (names->used_days.items[stack[i]] == 0) {
			names->used_days.items[stack[i]] =
				names_day(clock_realtime_ns() / NS_PER_SEC);
			names->used_count++;
		}
	}
	return 0;
}

static int read_table(struct names *names, struct database *database,
		      struct duckdb_connection *connection, const char *select, read_chunk_fn read,
		      struct error *err)
{
	struct bytes sql = {0};
	struct answer answer;
	int r;

	bytes_printf(&sql, "%s", select);
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer))
		r = read(names, &answer);
	answer_end(&answer);
	if (r == -ENOMEM)
		return error_set(err, r, "out of memory");
	return r < 0 ? out_of_order(select, err) : 0;
}

static int index_locations(struct names *names, struct error *err)
{
	size_t i;

	for (i = 0; i < names->locations.count; i++)
		if (names_index_location(names, (uint32_t)i) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

int names_load(struct names *names, struct database *database, struct duckdb_connection *connection,
	       struct error *err)
{
	static const struct {
		const char *select;
		read_chunk_fn read;
	} tables[] = {
		{"SELECT id, name, file, module, origin FROM functions ORDER BY id",
		 read_functions},
		{"SELECT id, module, build_id, vaddr, unnamed FROM locations ORDER BY id",
		 read_locations},
		{"SELECT location, position, function, line, file FROM lines "
		 "ORDER BY location, position",
		 read_lines},
		{"SELECT id, parent, location FROM stacks ORDER BY id", read_stacks},
		{"SELECT stack, max(day) FROM stack_days GROUP BY stack", read_days},
		{"SELECT DISTINCT stack FROM calls ORDER BY stack", read_used},
	};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(tables) && r == 0; i++)
		r = read_table(names, database, connection, tables[i].select, tables[i].read, err);
	if (r == 0)
		r = index_locations(names, err);
	if (r == 0 && stack_tree_complete(&names->profile->stacks) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0)
		return r;
	names->saved_functions = names->profile->functions.count;
	names->saved_locations = names->locations.count;
	return 0;
}

static int save_functions(const struct names *names, struct database *database,
			  struct duckdb_connection *connection, struct error *err)
{
	const struct profile *profile = names->profile;
	struct appender to;
	size_t i;
	int r;

	if (names->saved_functions == profile->functions.count)
		return 0;
	r = appender_open(&to, database, connection, "functions", "utttu", err);
	if (r < 0)
		return r;
	for (i = names->saved_functions; i < profile->functions.count; i++) {
		const struct profile_function *function = &profile->functions.items[i];
		size_t row = appender_row(&to);

		appender_put_u32(&to, 0, row, (uint32_t)i);
		appender_put_text(&to, 1, row, profile_text(profile, function->name));
		appender_put_text(&to, 2, row, profile_text(profile, function->file));
		appender_put_text(&to, 3, row, profile_text(profile, function->module));
		appender_put_u32(&to, 4, row, function->origin);
	}
	return appender_close(&to);
}

static void put_lines(struct appender *to, const struct names *names, uint32_t id)
{
	const struct profile *profile = names->profile;
	const struct names_location *location = &names->locations.items[id];
	uint32_t i;

	for (i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines.items[location->first_line + i];
		size_t row = appender_row(to);

		appender_put_u32(to, 0, row, id);
		appender_put_u32(to, 1, row, i);
		appender_put_u32(to, 2, row, line->function);
		appender_put_u32(to, 3, row, line->line);
		appender_put_text(to, 4, row, profile_text(profile, line->file));
	}
}

static int save_lines(const struct names *names, struct database *database,
		      struct duckdb_connection *connection, struct error *err)
{
	struct appender to;
	size_t i;
	int r = appender_open(&to, database, connection, "lines", "uuuut", err);

	if (r < 0)
		return r;
	for (i = names->saved_locations; i < names->locations.count; i++)
		put_lines(&to, names, (uint32_t)i);
	return appender_close(&to);
}

static int save_locations(const struct names *names, struct database *database,
			  struct duckdb_connection *connection, struct error *err)
{
	const struct profile *profile = names->profile;
	struct appender to;
	size_t i;
	int r;

	if (names->saved_locations == names->locations.count)
		return 0;
	r = appender_open(&to, database, connection, "locations", "uttUb", err);
	if (r < 0)
		return r;
	for (i = names->saved_locations; i < names->locations.count; i++) {
		const struct names_location *location = &names->locations.items[i];
		size_t row = appender_row(&to);

		appender_put_u32(&to, 0, row, (uint32_t)i);
		appender_put_text(&to, 1, row, profile_text(profile, location->module));
		appender_put_text(&to, 2, row, profile_text(profile, location->build_id));
		appender_put_u64(&to, 3, row, location->vaddr);
		appender_put_bool(&to, 4, row, location->is_unnamed);
	}
	r = appender_close(&to);
	return r < 0 ? r : save_lines(names, database, connection, err);
}

static int save_stacks(const struct names *names, struct database *database,
		       struct duckdb_connection *connection, struct error *err)
{
	const struct stack_tree *stacks = &names->profile->stacks;
	struct appender to;
	size_t i;
	int r;

	if (names->new_stacks.count == 0)
		return 0;
	r = appender_open(&to, database, connection, "stacks", "uuu", err);
	if (r < 0)
		return r;
	for (i = 0; i < names->new_stacks.count; i++) {
		uint32_t id = names->new_stacks.items[i];
		size_t row = appender_row(&to);

		appender_put_u32(&to, 0, row, id);
		appender_put_u32(&to, 1, row, stacks->nodes.items[id].parent);
		appender_put_u32(&to, 2, row, stacks->nodes.items[id].frame);
	}
	return appender_close(&to);
}

static int save_days(const struct names *names, struct database *database,
		     struct duckdb_connection *connection, struct error *err)
{
	struct appender to;
	size_t i;
	int r;

	if (names->new_days.count == 0)
		return 0;
	r = appender_open(&to, database, connection, "stack_days", "uu", err);
	if (r < 0)
		return r;
	for (i = 0; i < names->new_days.count; i++) {
		uint32_t id = names->new_days.items[i];
		size_t row = appender_row(&to);

		appender_put_u32(&to, 0, row, id);
		appender_put_u32(&to, 1, row, names->used_days.items[id]);
	}
	return appender_close(&to);
}

/* Each function of a stack once; seen has the stack in which a function was found last. */
static void put_calls(struct appender *to, const struct names *names, uint32_t stack,
		      uint32_t *seen)
{
	const struct profile *profile = names->profile;
	bool is_leaf = true;
	uint32_t node;

	for (node = stack; node != 0; node = profile->stacks.nodes.items[node].parent) {
		const struct names_location *location =
			&names->locations.items[profile->stacks.nodes.items[node].frame];
		uint32_t i;

		for (i = location->line_count; i-- > 0; is_leaf = false) {
			uint32_t function = profile->lines.items[location->first_line + i].function;
			size_t row;

			if (seen[function] == stack)
				continue;
			seen[function] = stack;
			row = appender_row(to);
			appender_put_u32(to, 0, row, function);
			appender_put_u32(to, 1, row, stack);
			appender_put_bool(to, 2, row, is_leaf);
		}
	}
}

static int save_calls(const struct names *names, const uint32_t *stacks, size_t count,
		      struct database *database, struct duckdb_connection *connection,
		      struct error *err)
{
	SCOPED(mem) uint32_t *seen = NULL;
	struct appender to;
	size_t i;
	int r;

	if (count == 0)
		return 0;
	seen = calloc(names->profile->functions.count + 1, sizeof(*seen));
	if (!seen)
		return error_set(err, -ENOMEM, "out of memory");
	r = appender_open(&to, database, connection, "calls", "uub", err);
	if (r < 0)
		return r;
	for (i = 0; i < count; i++)
		put_calls(&to, names, stacks[i], seen);
	return appender_close(&to);
}

int names_save(const struct names *names, struct database *database,
	       struct duckdb_connection *connection, struct error *err)
{
	int r = save_functions(names, database, connection, err);

	if (r == 0)
		r = save_locations(names, database, connection, err);
	if (r == 0)
		r = save_stacks(names, database, connection, err);
	if (r == 0)
		r = save_calls(names, names->new_used.items, names->new_used.count, database,
			       connection, err);
	if (r == 0)
		r = save_days(names, database, connection, err);
	return r;
}

void names_saved(struct names *names)
{
	names->saved_functions = names->profile->functions.count;
	names->saved_locations = names->locations.count;
	names->new_stacks.count = names->new_used.count = names->new_days.count = 0;
}

static int run_listed(const char *statement, const names_ids *ids, struct database *database,
		      struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	size_t i;
	int r;

	if (ids->count == 0)
		return 0;
	bytes_printf(&sql, "%s (", statement);
	for (i = 0; i < ids->count; i++)
		bytes_printf(&sql, "%s%" PRIu32, i > 0 ? "," : "", ids->items[i]);
	bytes_printf(&sql, ")");
	r = database_run_bytes(database, connection, &sql, err);
	bytes_fini(&sql);
	return r;
}

int names_save_removed(const bool *is_gone, size_t count, uint16_t day, struct database *database,
		       struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	struct appender to;
	size_t i;
	int r = database_run(database, connection, "CREATE TABLE gone (stack UINTEGER)", err);

	if (r == 0)
		r = appender_open(&to, database, connection, "gone", "u", err);
	if (r < 0)
		return r;
	for (i = 0; i < count; i++)
		if (is_gone[i])
			appender_put_u32(&to, 0, appender_row(&to), (uint32_t)i);
	r = appender_close(&to);
	bytes_printf(&sql,
		     "DELETE FROM calls WHERE stack IN (SELECT stack FROM gone);"
		     "DELETE FROM stacks WHERE id IN (SELECT stack FROM gone);"
		     "DELETE FROM stack_days WHERE day < %u OR stack IN (SELECT stack FROM gone);"
		     "DROP TABLE gone;",
		     day);
	if (r == 0)
		r = database_run_bytes(database, connection, &sql, err);
	bytes_fini(&sql);
	return r;
}

static int save_renamed_calls(const struct names *names, const names_ids *locations,
			      struct database *database, struct duckdb_connection *connection,
			      struct error *err)
{
	names_ids stacks = {0};
	int r = 0;

	if (names_stacks_with(names, locations, &stacks) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = run_listed("DELETE FROM calls WHERE stack IN", &stacks, database, connection,
			       err);
	if (r == 0)
		r = save_calls(names, stacks.items, stacks.count, database, connection, err);
	vec_fini(&stacks);
	return r;
}

int names_save_renamed(const struct names *names, const names_ids *locations,
		       struct database *database, struct duckdb_connection *connection,
		       struct error *err)
{
	struct appender to;
	size_t i;
	int r = run_listed("UPDATE locations SET unnamed = false WHERE id IN", locations, database,
			   connection, err);

	if (r == 0)
		r = run_listed("DELETE FROM lines WHERE location IN", locations, database,
			       connection, err);
	if (r == 0)
		r = appender_open(&to, database, connection, "lines", "uuuut", err);
	if (r < 0)
		return r;
	for (i = 0; i < locations->count; i++)
		put_lines(&to, names, locations->items[i]);
	r = appender_close(&to);
	return r < 0 ? r : save_renamed_calls(names, locations, database, connection, err);
}
