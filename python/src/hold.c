/* SPDX-License-Identifier: BSD-2-Clause */
#include "hold.h"

#include <errno.h>
#include <stddef.h>
#include <structmember.h>

#include "tracer.h"

typedef struct {
	PyObject_HEAD PyObject *attributes;
} hold_object;

static PyTypeObject *hold_type;
static hold_object *current; /* borrowed, unless is_own */
static bool is_own;          /* the tracer has a reference */

static void hold_free(PyObject *object)
{
	hold_object *hold = (hold_object *)object;
	PyTypeObject *type = Py_TYPE(object);

	if (current == hold)
		current = NULL;
	Py_CLEAR(hold->attributes);
	type->tp_free(object);
	Py_DECREF(type);
	/* Somebody may hold the next one already. */
	if (!current && !version_is_finalizing())
		tracer_drop_stacks();
}

PyObject *hold_get(void)
{
	if (!current) {
		uint32_t outer = tracer_thread_enter(THREAD_OWN);

		current = (hold_object *)hold_type->tp_alloc(hold_type, 0);
		tracer_thread.state = outer;
		return (PyObject *)current;
	}
	Py_INCREF(current);
	return (PyObject *)current;
}

int hold_begin(void)
{
	if (is_own)
		return 0;
	if (!hold_get()) {
		PyErr_Clear();
		return -ENOMEM;
	}
	is_own = true;
	return 0;
}

void hold_end(void)
{
	if (!is_own)
		return;
	is_own = false;
	Py_DECREF(current);
}

bool hold_is_shared(void)
{
	return current && Py_REFCNT(current) > (is_own ? 1 : 0);
}

void hold_forget(void)
{
	if (current)
		Py_CLEAR(current->attributes);
}

static PyMemberDef hold_members[] = {
	{"__dictoffset__", T_PYSSIZET, offsetof(hold_object, attributes), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyType_Slot hold_slots[] = {
	{Py_tp_dealloc, hold_free},
	{Py_tp_members, hold_members},
	{Py_tp_doc, "While it exists, ids of stacks and sites keep their meaning."},
	{0, NULL},
};

static PyType_Spec hold_spec = {
	.name = "wick._tracer.Hold",
	.basicsize = sizeof(hold_object),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = hold_slots,
};

int hold_add_type(PyObject *module)
{
	hold_type = (PyTypeObject *)PyType_FromSpec(&hold_spec);
	if (!hold_type)
		return -1;
	hold_type->tp_new = NULL; /* only hold() makes them */
	Py_INCREF(hold_type);
	return PyModule_AddObject(module, "Hold", (PyObject *)hold_type);
}
