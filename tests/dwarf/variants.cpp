/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A program that is built in every way that changes what its debug information looks
 * like. Each MARK is a symbol at a nop; test_variants.py knows the calls that are inlined
 * around it. Lines are found by their "line:" comments.
 */

#define MARK(name) asm volatile(".globl mark_" #name "\nmark_" #name ": nop")
#define INLINE __attribute__((always_inline)) inline
#define APART __attribute__((noinline))

extern "C" long c_entry(long x);

namespace shapes
{
template <typename T> struct box {
	T side;

	INLINE T area() const
	{
		MARK(area); /* line: area */
		return side * side;
	}
};

namespace
{
INLINE long hidden(long x)
{
	MARK(hidden); /* line: hidden */
	return x + 1;
}
} // namespace

template <typename T> INLINE T outer(T x)
{
	box<T> one{x};

	return one.area()   /* line: outer-area */
	       + hidden(x); /* line: outer-hidden */
}
} // namespace shapes

APART long leaf(long x)
{
	MARK(leaf);              /* line: leaf */
	return shapes::outer(x); /* line: leaf-outer */
}

struct visitor {
	long seen;

	APART void visit(long x);
};

void visitor::visit(long x)
{
	auto twice = [this](long y) __attribute__((always_inline))
	{
		MARK(lambda); /* line: lambda */
		seen += 2 * y;
	};

	MARK(visit); /* line: visit */
	twice(x);    /* line: visit-lambda */
}

__attribute__((cold, noinline)) void complain(long x)
{
	MARK(complain); /* line: complain */
	(void)x;
}

APART long checked(long x)
{
	if (__builtin_expect(x < 0, 0)) {
		MARK(cold); /* line: cold */
		complain(x);
		return -1;
	}
	return x;
}

int main(int argc, char **)
{
	visitor v{argc};

	v.visit(argc);
	return static_cast<int>(leaf(argc) + checked(argc) + c_entry(argc) + v.seen) & 1;
}
