/* SPDX-License-Identifier: BSD-2-Clause */

/* Blocks that C++ programs hold, and lose. */

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

struct Counted {
	long value[3];
	~Counted()
	{
		value[0] = 0;
	}
};

struct First {
	virtual ~First()
	{
	}
	virtual void one()
	{
	}
	long room[4];
};

struct Second {
	virtual ~Second()
	{
	}
	virtual void two()
	{
	}
	long room[5];
};

struct Both : First, Second {
	long room[6];
};

static Counted *volatile array; /* behind the number of its elements */
static Second *volatile second; /* into an object of two bases */
static std::map<std::string, std::vector<int>> *volatile known;
static std::string *volatile text;

__attribute__((noinline)) static void hold()
{
	array = new Counted[5];
	second = new Both;
	known = new std::map<std::string, std::vector<int>>;
	for (int i = 0; i < 30; i++)
		(*known)[std::string(40 + i, 'x')].resize(100 + i);
	text = new std::string(1000, 'y');
}

__attribute__((noinline)) static void lose()
{
	auto *lost = new std::map<int, std::string>;

	for (int i = 0; i < 10; i++)
		(*lost)[i] = std::string(60, 'z');
	new std::vector<std::string>(7, std::string(90, 'w'));
	new Counted[3];
}

int main()
{
	lose();
	hold();
	return 0;
}
