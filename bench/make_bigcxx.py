#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes and compiles a C++ program with much debug information, for bench/symbols.py.

    make_bigcxx.py [--modules N] [--jobs N] FOLDER

Each module is different code that uses the same parts of the standard library, like the modules of a large
C++ program. 27 modules give about 36 MB of .debug_info and 310,000 inlined calls
and take two minutes to compile on two CPUs. The program is FOLDER/bigcxx.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

HEAD = """\
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace module_{m} {{
template <typename T, int N> struct ring {{
	T items[N] = {{}};
	unsigned head = 0;
	void push(T value) {{ items[head++ % N] = value; }}
	T sum() const {{ return std::accumulate(items, items + N, T()); }}
}};
template <typename T> static inline T mix(T a, T b) {{ return a * T(31) + b; }}
template <typename T, typename F> auto fold(const T &all, F each) {{
	decltype(each(*all.begin())) sum = {{}};
	for (const auto &one : all)
		sum = mix(sum, each(one));
	return sum;
}}
"""

PART = """\
struct key_{i} {{
	int a, b;
	bool operator<(const key_{i} &other) const {{ return std::tie(a, b) < std::tie(other.a, other.b); }}
}};
class part_{i} {{
	std::map<key_{i}, std::string> names;
	std::vector<std::pair<{t}, std::string>> rows;
	std::unordered_map<std::string, std::vector<{t}>> groups;
	std::variant<bool, std::string, {t}> last;
	ring<{t}, {n}> recent;
public:
	void add({t} value, const std::string &text) {{
		names[key_{i}{{int(value), {i}}}] = text;
		rows.emplace_back(value, text);
		groups[text.substr(0, {n} % 5 + 1)].push_back(value);
		recent.push(value);
		if (rows.size() % {n} == 0)
			last = text;
		else
			last.template emplace<2>(value);
	}}
	std::optional<{t}> find(const std::string &text) const {{
		auto at = std::find_if(rows.begin(), rows.end(),
				       [&](const auto &row) {{ return row.second == text; }});
		if (at == rows.end())
			return std::nullopt;
		return at->first;
	}}
	long score() {{
		std::sort(rows.begin(), rows.end(), [](const auto &x, const auto &y) {{
			return x.second.size() != y.second.size() ? x.second.size() < y.second.size()
								  : x.first < y.first;
		}});
		long sum = fold(rows, [](const auto &row) {{ return long(row.second.size()) + long(row.first); }});
		for (auto &[text, values] : groups) {{
			std::set<{t}> unique(values.begin(), values.end());
			sum += fold(unique, [](auto value) {{ return long(value); }});
		}}
		std::deque<long> queue;
		std::list<std::string> kept;
		for (const auto &[key, text] : names) {{
			queue.push_front(key.a * {n} + key.b);
			kept.push_back(text + std::to_string(key.a));
		}}
		kept.sort();
		sum += std::visit([](const auto &one) -> long {{
			if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::string>)
				return long(one.size());
			else
				return long(one);
		}}, last);
		return sum + long(recent.sum()) + queue.front() + long(kept.front().size());
	}}
}};
long run_{i}(unsigned seed) {{
	auto part = std::make_shared<part_{i}>();
	std::function<std::string(unsigned)> name = [&](unsigned x) {{
		std::ostringstream out;
		out << "m{m}p{i}." << x % {n} << '-' << seed;
		return out.str();
	}};
	for (unsigned x = 0; x < {n} * 3u; x++)
		part->add({t}((x * 2654435761u + seed) % 1000), name(x));
	auto found = part->find(name(seed));
	return part->score() + (found ? long(*found) : {i});
}}
"""

TYPES = ("int", "long", "double", "short", "unsigned", "float", "std::size_t", "char")


def module_text(m, parts):
    text = [HEAD.format(m=m)]
    for i in range(parts):
        text.append(PART.format(m=m, i=i, t=TYPES[(m + i) % len(TYPES)], n=7 + (m * 5 + i * 3) % 23))
    calls = " + ".join(f"run_{i}(seed + {i})" for i in range(parts))
    text.append(f"long run(unsigned seed)\n{{\n\treturn {calls};\n}}\n}}\n")
    return "".join(text)


def main_text(modules):
    declared = "".join(f"namespace module_{m} {{ long run(unsigned seed); }}\n" for m in modules)
    calls = "".join(f"\tsum += module_{m}::run(seed);\n" for m in modules)
    return (f"#include <cstdio>\n{declared}int main(int argc, char **)\n{{\n\tunsigned seed = argc;\n"
            f"\tlong sum = 0;\n{calls}\tstd::printf(\"%ld\\n\", sum);\n}}\n")


def compile_one(path, compiler, flags):
    target = path.with_suffix(".o")
    subprocess.run([compiler, *flags, "-c", path.name, "-o", target.name], cwd=path.parent, check=True)
    return target.name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", type=int, default=27)
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-std=c++17 -O2 -g")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    modules = range(options.modules)
    sources = []
    for m in modules:
        sources.append(options.folder / f"module_{m}.cc")
        sources[-1].write_text(module_text(m, options.parts))
    sources.append(options.folder / "main.cc")
    sources[-1].write_text(main_text(modules))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        objects = list(pool.map(
            lambda path: compile_one(path, options.compiler, options.flags.split()), sources))
    subprocess.run([options.compiler, *objects, "-o", "bigcxx"], cwd=options.folder, check=True)
    print(options.folder / "bigcxx")
    return 0


if __name__ == "__main__":
    sys.exit(main())
