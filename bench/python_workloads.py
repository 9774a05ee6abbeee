# SPDX-License-Identifier: BSD-2-Clause
"""Python programs that allocate in different ways, for bench/python_memory.py: 5 to 25 million
allocations and frees a second.

    python_workloads.py NAME [SCALE]

prints the CPU seconds of the work itself, without starting the interpreter.
"""
import ast
import asyncio
import io
import itertools
import json
import pickle
import re
import sqlite3
import sys
import threading
import time


def json_texts(scale):
    rows = [{"id": i, "name": f"item {i}", "tags": ["a", "b", str(i)], "price": i / 7} for i in range(400)]
    for _ in range(int(60 * scale)):
        rows = json.loads(json.dumps(rows))
    return len(rows)


def regex(scale):
    text = " ".join(f"user{i}@host{i % 17}.example.org {i * 31}" for i in range(800))
    pattern = re.compile(r"(\w+)@(\w+)\.(\w+)\.org (\d+)")
    found = 0
    for _ in range(int(60 * scale)):
        found += sum(len(match.groups()) for match in pattern.finditer(text))
        found += len(pattern.sub(r"\1", text))
    return found


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def moved(self, dx):
        return Point(self.x + dx, self.y)


def objects(scale):
    points = []
    for i in range(int(150_000 * scale)):
        points.append(Point(i, -i).moved(3))
    return sum(point.x for point in points)


def strings(scale):
    total = 0
    for i in range(int(60_000 * scale)):
        text = f"the quick brown fox {i} jumps over the lazy dog"
        words = text.split()
        total += len("-".join(word.upper() for word in words))
        for word in words:
            total += word.startswith("f") + word.count("o") + text.find(word)
    return total


def syntax(scale):
    source = "\n".join(f"def f{i}(a, b={i}):\n    return [a * x + b for x in range({i})]" for i in range(60))
    nodes = 0
    for _ in range(int(25 * scale)):
        nodes += sum(1 for _ in ast.walk(ast.parse(source)))
        compile(source, "generated", "exec")
    return nodes


def database(scale):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key, name text, value real)")
    connection.executemany("insert into t values (?, ?, ?)",
                           ((i, f"name {i}", i / 3) for i in range(int(30_000 * scale))))
    rows = connection.execute("select name, value, id from t where value > 10 order by name").fetchall()
    return len(rows)


def threads(scale):
    results = []

    def work():
        kept = []
        total = 0
        for i in range(int(30_000 * scale)):
            kept.append({"i": i, "text": str(i)})
            if len(kept) > 500:
                kept = sorted(kept, key=lambda row: row["text"])[250:]
            for letter in "threads":
                total += letter in "aeiou"
        results.append(len(kept) + total)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(results)


def deep(scale):
    def descend(level, repeat):
        if level > 0:
            return descend(level - 1, repeat)
        total = 0
        for i in range(repeat):
            row = [i, (i, i + 300), {i: i}]
            for value in "abcdefghijkl":
                total += len(row) + (value in "aeiou")
        return total

    return sum(descend(60, 1000) for _ in range(int(50 * scale)))


async def ticker(queue, count):
    for i in range(count):
        await queue.put({"number": i})
        await asyncio.sleep(0)


def coroutines(scale):
    async def main():
        queue = asyncio.Queue()
        count = int(6_000 * scale)
        tasks = [asyncio.create_task(ticker(queue, count)) for _ in range(2)]
        total = 0
        for _ in range(2 * count):
            total += (await queue.get())["number"]
        await asyncio.gather(*tasks)
        return total

    return asyncio.run(main())


def pickles(scale):
    data = [(i, str(i), {"key": [i] * 3}, float(i)) for i in range(1500)]
    for _ in range(int(30 * scale)):
        stream = io.BytesIO()
        pickle.dump(data, stream)
        data = pickle.loads(stream.getvalue())
    return len(data)


def floats(scale):
    x = 0.5
    total = 0.0
    for _ in itertools.repeat(None, int(900_000 * scale)):
        x = 3.7 * x * (1.0 - x)
        total = total + x
    return total


WORKLOADS = {"json": json_texts, "regex": regex, "objects": objects, "strings": strings, "ast": syntax,
             "sqlite": database, "threads": threads, "deep": deep, "asyncio": coroutines, "pickle": pickles,
             "floats": floats}


def main():
    work = WORKLOADS[sys.argv[1]]
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1
    before = time.process_time()
    result = work(scale)
    print(time.process_time() - before, result)


if __name__ == "__main__":
    main()
