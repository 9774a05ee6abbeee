/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * objects: what C++ programs hold by pointers into blocks, and lose before, in and after main().
 * docs/reference/leak-suites.md lists the published cases that these are.
 */

/* Old strings are one block, known by a pointer to their text. */
#define _GLIBCXX_USE_CXX11_ABI 0

#include "suite.h"

#include <new>
#include <string>

struct Counted {
	char one;
	int two;
	~Counted()
	{
		kept(this);
	}
};

struct EmptyFirst {
	virtual ~EmptyFirst()
	{
	}
};

struct EmptySecond {
	virtual ~EmptySecond()
	{
	}
};

struct EmptyBoth : EmptyFirst, EmptySecond {
};

struct First {
	char of_first = 'a';
	virtual ~First()
	{
	}
};

struct Second {
	char of_second = 'b';
	virtual ~Second()
	{
	}
};

struct Both : First, Second {
	char of_both = 'c';
};

static Counted *volatile array;
static Counted *volatile no_objects;
static EmptySecond *volatile empty_second;
static EmptyFirst *volatile empty_first;
static Second *volatile second;
static First *volatile first;
static uint64_t *volatile behind_its_length;
/* Never destroyed: what they hold is held at the end. */
static std::string *text;
static std::string *other_text;
alignas(std::string) static char text_room[2][sizeof(std::string)];

CASE array_behind_its_number()
{
	array = new Counted[3];
	expect(REACHABLE, 3 * sizeof(Counted) + sizeof(size_t), 1);
}

/* The pointer leads to where the block ends: the number alone is in it. */
CASE array_of_nothing()
{
	volatile size_t none = 0;

	no_objects = new Counted[none];
	expect(REACHABLE, sizeof(size_t), 1);
}

CASE second_bases()
{
	empty_second = new EmptyBoth;
	empty_first = new EmptyBoth;
	second = new Both;
	first = new Both;
	expect(REACHABLE, 2 * sizeof(EmptyBoth) + 2 * sizeof(Both), 4);
}

CASE behind_a_length()
{
	uint64_t *made = static_cast<uint64_t *>(malloc(23 + sizeof(uint64_t)));

	check(made != NULL, "memory");
	*made = 23;
	kept(made);
	behind_its_length = made + 1;
	expect(REACHABLE, 23 + sizeof(uint64_t), 1);
}

/* Length, capacity, number of users, and then the characters with a zero. */
CASE old_strings()
{
	text = new (text_room[0]) std::string("a text that has a block");
	other_text = new (text_room[1]) std::string(*text);
	*other_text += ", and one that has another";
	for (const std::string *string : {text, other_text})
		expect(REACHABLE, 3 * sizeof(size_t) + string->capacity() + 1, 1);
}

CASE array_lost()
{
	volatile size_t none = 0;
	int *volatile lost = new int[none];

	kept(lost);
	lost = NULL;
	expect(DEFINITE, 0, 1);
}

static int *volatile before_main;

NOINLINE static int *lost_from_before_main__make()
{
	return new int(5);
}

CASE lost_from_before_main()
{
	before_main = NULL;
	expect(DEFINITE, sizeof(int), 1);
}

/* An object of the program whose destructor loses a block, after main(). */
struct Loser {
	void *held;
	Loser();
	~Loser()
	{
		held = NULL;
		kept(this);
	}
};

NOINLINE static void *lost_by_a_destructor__make()
{
	return fill(malloc(1337), 1337);
}

Loser::Loser() : held(lost_by_a_destructor__make())
{
	before_main = lost_from_before_main__make();
}

static Loser loser;

CASE lost_by_a_destructor()
{
	check(loser.held != NULL, "what an object holds");
	expect(DEFINITE, 1337, 1);
}

static const struct suite_case cases[] = {
	{"array_behind_its_number", array_behind_its_number, 0},
	{"array_of_nothing", array_of_nothing, 0},
	{"second_bases", second_bases, 0},
	{"behind_a_length", behind_a_length, 0},
	{"old_strings", old_strings, 0},
	{"array_lost", array_lost, 0},
	{"lost_from_before_main", lost_from_before_main, 0},
	{"lost_by_a_destructor", lost_by_a_destructor, 0},
};

int main(int argc, char **argv)
{
	return suite_main(cases, COUNT_OF(cases), argc, argv);
}
