/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "event_records.h"
#include "hold.h"
#include "stacks.h"

/* A live block: size in two parts, so that it takes 12 bytes. */
struct live {
	uint32_t size_low;
	uint32_t size_high;
	uint32_t site;
};

struct live_site {
	uint32_t site;
	int64_t count;
	int64_t size;
};

typedef struct {
	PyObject_HEAD struct live *blocks;
	size_t block_count;
	size_t block_room;
	struct live_site *sites;
	size_t site_count;
	uint64_t time_ns;
	struct tracer_settings settings;
	bool is_sampled;
	PyObject *hold; /* sites keep their ids */
} snapshot_object;

static void snapshot_free(PyObject *object)
{
	snapshot_object *snapshot = (snapshot_object *)object;
	PyTypeObject *type = Py_TYPE(object);

	free(snapshot->blocks);
	free(snapshot->sites);
	Py_XDECREF(snapshot->hold);
	type->tp_free(object);
	Py_DECREF(type);
}

static void copy_blocks(snapshot_object *snapshot, enum tracer_table_id id)
{
	const struct trace_blocks *blocks = &tracer.tables[id].blocks;
	uint32_t bit = id == TABLE_LOCKED ? TRACER_LOCKED_BIT : 0;
	struct live *next = snapshot->blocks + snapshot->block_count;
	struct trace_block block;
	uint64_t cursor = 0;

	while (trace_blocks_next(blocks, &cursor, &block))
		*next++ = (struct live){(uint32_t)block.size, (uint32_t)(block.size >> 32),
					block.site | bit};
	snapshot->block_count = (size_t)(next - snapshot->blocks);
}

static void copy_tracked(snapshot_object *snapshot)
{
	for (size_t i = 0; i < tracer.tracked.capacity; i++) {
		const struct tracked_block *block = &tracer.tracked.slots[i];

		if (block->site != 0)
			snapshot->blocks[snapshot->block_count++] =
				(struct live){(uint32_t)block->size, (uint32_t)(block->size >> 32),
					      (block->site - 1) | TRACER_LOCKED_BIT};
	}
}

static void copy_sites(snapshot_object *snapshot, enum tracer_table_id id)
{
	const struct trace_sites *sites = &tracer.tables[id].sites;

	for (uint32_t i = 0; i < sites->site_count; i++) {
		const struct trace_site *site = trace_site(sites, i);

		if (site->count != 0)
			snapshot->sites[snapshot->site_count++] =
				(struct live_site){i | (id == TABLE_LOCKED ? TRACER_LOCKED_BIT : 0),
						   site->count, site->size};
	}
}

/* The tables are locked. Returns false without memory. */
static bool copy_all(snapshot_object *snapshot)
{
	size_t blocks = tracer.tracked.count;
	size_t sites = 0;

	for (enum tracer_table_id id = 0; id < TABLE_COUNT; id++) {
		blocks += tracer.tables[id].blocks.count;
		sites += tracer.tables[id].sites.site_count;
	}
	snapshot->blocks = malloc((blocks + 1) * sizeof(*snapshot->blocks));
	snapshot->sites = malloc((sites + 1) * sizeof(*snapshot->sites));
	if (!snapshot->blocks || !snapshot->sites)
		return false;
	for (enum tracer_table_id id = 0; id < TABLE_COUNT; id++) {
		copy_blocks(snapshot, id);
		copy_sites(snapshot, id);
	}
	copy_tracked(snapshot);
	return true;
}

static PyTypeObject *snapshot_type;

PyObject *snapshot_take(void)
{
	snapshot_object *snapshot;
	struct timespec now;
	uint32_t outer;
	bool is_copied;

	outer = tracer_thread_enter(THREAD_OWN);
	snapshot = (snapshot_object *)snapshot_type->tp_alloc(snapshot_type, 0);
	tracer_thread.state = outer;
	if (!snapshot)
		return NULL;
	snapshot->hold = hold_get();
	if (!snapshot->hold) {
		Py_DECREF(snapshot);
		return NULL;
	}
	for (int id = 0; id < TABLE_COUNT; id++)
		tracer_lock(&tracer.tables[id]);
	is_copied = copy_all(snapshot);
	for (int id = TABLE_COUNT; id-- > 0;)
		tracer_unlock(&tracer.tables[id]);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snapshot->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	snapshot->settings = tracer.settings;
	snapshot->is_sampled = tracer.is_sampled;
	if (!is_copied) {
		Py_DECREF(snapshot);
		return PyErr_NoMemory();
	}
	return (PyObject *)snapshot;
}

static uint64_t live_size(const struct live *block)
{
	return (uint64_t)block->size_high << 32 | block->size_low;
}

/* What the sampled blocks of a site stand for. */
struct estimate {
	double count;
	double size;
	double count_variance;
	double size_variance;
};

static void estimate_add(struct estimate *estimate, uint64_t size)
{
	double p = sampled_probability(size);
	double bytes = (double)size;

	estimate->count += 1 / p;
	estimate->size += bytes / p;
	estimate->count_variance += (1 - p) / (p * p);
	estimate->size_variance += bytes * bytes * (1 - p) / (p * p);
}

static int compare_sites(const void *a, const void *b)
{
	uint32_t left = ((const struct live *)a)->site;
	uint32_t right = ((const struct live *)b)->site;

	return left < right ? -1 : left > right;
}

/* Blocks are sorted by site: sites are in the same order. */
static PyObject *estimated_sites(snapshot_object *self)
{
	PyObject *list = PyList_New(0);
	size_t i = 0;

	qsort(self->blocks, self->block_count, sizeof(*self->blocks), compare_sites);
	while (list && i < self->block_count) {
		uint32_t site = self->blocks[i].site;
		struct estimate sum = {0};
		PyObject *item;

		for (; i < self->block_count && self->blocks[i].site == site; i++)
			estimate_add(&sum, live_size(&self->blocks[i]));
		item = Py_BuildValue("(Idddd)", site, sum.count, sum.size, sum.count_variance,
				     sum.size_variance);
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *snapshot_sites(PyObject *object, PyObject *unused)
{
	snapshot_object *self = (snapshot_object *)object;
	PyObject *list;

	(void)unused;
	if (self->is_sampled)
		return estimated_sites(self);
	list = PyList_New((Py_ssize_t)self->site_count);
	for (size_t i = 0; list && i < self->site_count; i++) {
		const struct live_site *site = &self->sites[i];
		PyObject *item = Py_BuildValue("(ILLdd)", site->site, (long long)site->count,
					       (long long)site->size, 0.0, 0.0);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	return list;
}

static PyObject *snapshot_trace_count(PyObject *object, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(((snapshot_object *)object)->block_count);
}

static PyObject *snapshot_trace(PyObject *object, PyObject *argument)
{
	snapshot_object *self = (snapshot_object *)object;
	size_t i = PyLong_AsSize_t(argument);

	if (PyErr_Occurred())
		return NULL;
	if (i >= self->block_count)
		return PyErr_Format(PyExc_IndexError, "there is no trace %zu", i);
	return Py_BuildValue("(IK)", self->blocks[i].site,
			     (unsigned long long)live_size(&self->blocks[i]));
}

static PyObject *snapshot_traces(PyObject *object, PyObject *unused)
{
	snapshot_object *self = (snapshot_object *)object;
	PyObject *list = PyList_New((Py_ssize_t)self->block_count);

	(void)unused;
	for (size_t i = 0; list && i < self->block_count; i++) {
		uint64_t size = live_size(&self->blocks[i]);
		PyObject *item =
			Py_BuildValue("(IKd)", self->blocks[i].site, (unsigned long long)size,
				      self->is_sampled ? 1 / sampled_probability(size) : 1);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	return list;
}

static PyObject *get_time_ns(PyObject *object, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(((snapshot_object *)object)->time_ns);
}

static PyObject *get_nframe(PyObject *object, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(((snapshot_object *)object)->settings.calls_max);
}

static PyObject *get_sampling_bytes(PyObject *object, void *unused)
{
	(void)unused;
	return PyFloat_FromDouble(((snapshot_object *)object)->settings.sampling_bytes);
}

static PyObject *get_probability(PyObject *object, void *unused)
{
	(void)unused;
	return PyFloat_FromDouble(((snapshot_object *)object)->settings.probability);
}

static PyGetSetDef snapshot_members[] = {
	{"time_ns", get_time_ns, NULL, "when it was taken, of CLOCK_MONOTONIC", NULL},
	{"nframe", get_nframe, NULL, "calls kept of each stack", NULL},
	{"sampling_bytes", get_sampling_bytes, NULL, "mean bytes between samples or 0", NULL},
	{"probability", get_probability, NULL, "probability of a sample or 0", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef snapshot_methods[] = {
	{"sites", snapshot_sites, METH_NOARGS,
	 "sites() -> list of (site, count, size, count_variance, size_variance)"},
	{"trace_count", snapshot_trace_count, METH_NOARGS, "trace_count() -> int"},
	{"trace", snapshot_trace, METH_O, "trace(i) -> (site, size)"},
	{"traces", snapshot_traces, METH_NOARGS, "traces() -> list of (site, size, weight)"},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot snapshot_slots[] = {
	{Py_tp_dealloc, snapshot_free},
	{Py_tp_methods, snapshot_methods},
	{Py_tp_getset, snapshot_members},
	{Py_tp_doc, "The live blocks at one moment."},
	{0, NULL},
};

static PyType_Spec snapshot_spec = {
	.name = "wick._tracer.Snapshot",
	.basicsize = sizeof(snapshot_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = snapshot_slots,
};

int snapshot_add_type(PyObject *module)
{
	snapshot_type = (PyTypeObject *)PyType_FromSpec(&snapshot_spec);
	if (!snapshot_type)
		return -1;
	snapshot_type->tp_new = NULL; /* only snapshot() makes them */
	Py_INCREF(snapshot_type);
	return PyModule_AddObject(module, "Snapshot", (PyObject *)snapshot_type);
}

static char *put_record(char *next, uint64_t address, uint64_t size, uint32_t site)
{
	struct event_record record = {
		.address = address, .size = size, .site = site, .kind = TRACE_ALLOCATION};

	memcpy(next, &record, sizeof(record));
	return next + sizeof(record);
}

/* The tables are locked. */
static void put_records(char *next)
{
	for (enum tracer_table_id id = 0; id < TABLE_COUNT; id++) {
		uint32_t bit = id == TABLE_LOCKED ? TRACER_LOCKED_BIT : 0;
		struct trace_block block;
		uint64_t cursor = 0;

		while (trace_blocks_next(&tracer.tables[id].blocks, &cursor, &block))
			next = put_record(next, block.address, block.size, block.site | bit);
	}
	for (size_t i = 0; i < tracer.tracked.capacity; i++) {
		const struct tracked_block *block = &tracer.tracked.slots[i];

		if (block->site != 0)
			next = put_record(next, event_record_address(block->address), block->size,
					  (block->site - 1) | TRACER_LOCKED_BIT);
	}
}

PyObject *snapshot_blocks_as_events(void)
{
	size_t count;
	uint32_t outer;
	PyObject *bytes;

	for (int id = 0; id < TABLE_COUNT; id++)
		tracer_lock(&tracer.tables[id]);
	count = tracer.tracked.count;
	for (int id = 0; id < TABLE_COUNT; id++)
		count += tracer.tables[id].blocks.count;
	outer = tracer_thread_enter(THREAD_NESTED); /* the result itself is not traced */
	bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * EVENT_RECORD_BYTES));
	tracer_thread.state = outer;
	if (bytes)
		put_records(PyBytes_AS_STRING(bytes));
	for (int id = TABLE_COUNT; id-- > 0;)
		tracer_unlock(&tracer.tables[id]);
	return bytes;
}
