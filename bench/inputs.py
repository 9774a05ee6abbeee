# SPDX-License-Identifier: BSD-2-Clause
"""Inputs of measurements that are made when they are needed: a source file, folded stacks."""
import random


def generated_source(classes):
    """C++ that keeps a compiler busy: templates of the standard library with many types."""
    parts = ["#include <algorithm>", "#include <map>", "#include <string>", "#include <vector>"]
    for i in range(classes):
        parts.append(f"""
struct record{i} {{ int key; std::string name; double value[{i % 7 + 1}]; }};
int use{i}(const std::vector<record{i}> &input) {{
    std::map<std::string, std::vector<record{i}>> groups;
    for (const auto &one : input) groups[one.name].push_back(one);
    int sum = 0;
    for (auto &group : groups) {{
        std::sort(group.second.begin(), group.second.end(),
                  [](const auto &a, const auto &b) {{ return a.key < b.key; }});
        sum += group.second.front().key * {i + 1};
    }}
    return sum;
}}""")
    return "\n".join(parts) + "\n"


def folded_stacks(count, depth):
    """Different stacks, sorted as stack-collapsing scripts write them: a tree that fans out slowly."""
    chance = random.Random(7)
    names = [f"project::module_{i % 97}::Class{i % 1013}::method_{i}(int)" for i in range(20000)]
    stacks = set()
    while len(stacks) < count:
        at, stack = 0, ["program"]
        for level in range(depth - 1):
            fan = 1 if level < 2 else 2 if level < 14 else 3
            branch = chance.randrange(fan) if chance.random() < 0.5 else 0
            at = (at * 31 + branch * 7919 + level * 104729) % len(names)
            stack.append(names[at])
        stacks.add(";".join(stack))
    return "".join(f"{stack} {chance.randrange(1, 20)}\n" for stack in sorted(stacks))
