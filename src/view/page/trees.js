// SPDX-License-Identifier: BSD-2-Clause
// Trees derived from the one in the file: by process or thread, inverted, callers and callees of a
// function. All are shapes, with the node in which each entry ends.

// Callers below this share of the total are not followed.
const SMALLEST = 1 / 50000;
const GROUPS = ['nothing', 'process', 'thread'];

let by = page.by;

function nameOf(shape, node) {
	const func = shape.func[node];
	return func < 0 ? shape.labels[-func - 1] : profile.functions.name[func];
}

function wholeShape() {
	profile.nodes.ends = profile.entries.node;
	return profile.nodes;
}

// A shape under construction; groups have negative functions.
function makeGrowing(label) {
	return { parent: [0], depth: [0], func: [-1], inlined: [0], labels: [label], cut: 0, ends: new Int32Array(profile.entries.count).fill(-1) };
}

function grow(shape, parent, func, inlined) {
	shape.parent.push(parent);
	shape.depth.push(shape.depth[parent] + 1);
	shape.func.push(func);
	shape.inlined.push(inlined);
	return shape.parent.length - 1;
}

function growGroup(shape, label) {
	shape.labels.push(label);
	return grow(shape, 0, -shape.labels.length, 0);
}

function finish(shape) {
	const parent = new Int32Array(shape.parent);
	return { count: parent.length, parent: parent, end: endsOf(parent), depth: new Int32Array(shape.depth), func: new Int32Array(shape.func),
		inlined: new Uint8Array(shape.inlined), labels: shape.labels, cut: shape.cut, ends: shape.ends };
}

// Groups of entries by process or thread, in alphabetical order: [label, entries].
function groupEntries() {
	const groups = new Map(), labels = profile.threads.map(function (each) {
		return by === 2 ? each.name + '/' + each.tid : each.process;
	});
	for (let i = 0; i < profile.entries.count; i++) {
		const label = labels[profile.entries.thread[i]];
		if (!groups.has(label))
			groups.set(label, []);
		groups.get(label).push(i);
	}
	return Array.from(groups).sort(function (a, b) { return a[0] < b[0] ? -1 : 1; });
}

function countFromOne(count) {
	const numbers = new Int32Array(count);
	for (let i = 0; i < count; i++)
		numbers[i] = i + 1;
	return numbers;
}

// The ancestors of some entries, in pre-order.
function nodesAbove(entries, stamps, stamp) {
	const parent = profile.nodes.parent, nodes = [];
	if (entries.length === profile.entries.count) // all of them
		return countFromOne(profile.nodes.count - 1);
	for (const entry of entries)
		for (let at = profile.entries.node[entry]; at > 0 && stamps[at] !== stamp; at = parent[at]) {
			stamps[at] = stamp;
			nodes.push(at);
		}
	if (nodes.length * 16 < profile.nodes.count)
		return new Int32Array(nodes).sort();
	const sorted = new Int32Array(nodes.length);
	let used = 0;
	for (let at = 1; at < profile.nodes.count; at++)
		if (stamps[at] === stamp)
			sorted[used++] = at;
	return sorted;
}

// The tree of the file once for each group, below a node for the group.
function groupShape() {
	const groups = groupEntries(), base = profile.nodes;
	const stamps = new Int32Array(base.count), places = new Int32Array(base.count);
	const parts = groups.map(function (group, i) { return nodesAbove(group[1], stamps, i + 1); });
	const count = parts.reduce(function (sum, part) { return sum + part.length + 1; }, 1);
	const shape = { count: count, parent: new Int32Array(count), depth: new Int32Array(count), func: new Int32Array(count),
		inlined: new Uint8Array(count), labels: ['all'], ends: new Int32Array(profile.entries.count) };
	let at = 1;
	shape.func[0] = -1;
	groups.forEach(function (group, i) {
		shape.labels.push(group[0]);
		shape.func[at] = -shape.labels.length;
		shape.depth[at] = 1;
		places[0] = at++;
		const part = parts[i];
		for (let k = 0; k < part.length; k++) {
			const node = part[k];
			places[node] = at;
			shape.parent[at] = places[base.parent[node]];
			shape.depth[at] = base.depth[node] + 1;
			shape.func[at] = base.func[node];
			shape.inlined[at++] = base.inlined[node];
		}
		for (const entry of group[1])
			shape.ends[entry] = places[profile.entries.node[entry]];
	});
	shape.end = endsOf(shape.parent);
	return shape;
}

// Callers: items are the nodes of the file where stacks start, with their costs. Items of one
// caller form a range, which is sorted by the next caller; each run becomes a child.
function climb(shape, from, starts, costs, limit, place) {
	const base = profile.nodes, at = new Int32Array(starts);
	const key = function (item) { return at[item] > 0 ? base.func[at[item]] : -1; };
	const pending = [{ node: from, items: starts.map(function (start, i) { return i; }) }];
	while (pending.length > 0) {
		const step = pending.pop();
		const items = step.items.length > 1 ? step.items.sort(function (a, b) { return key(a) - key(b); }) : step.items;
		const runs = [];
		for (let i = 0; i < items.length;) {
			const first = i, func = key(items[i]);
			let sum = 0, inlined = 1;
			for (; i < items.length && key(items[i]) === func; i++) {
				sum += costs[items[i]];
				inlined &= base.inlined[at[items[i]]];
			}
			runs.push({ func: func, items: items.slice(first, i), sum: sum, inlined: inlined });
		}
		// A child is created when it is taken from the stack, first child first: this gives
		// pre-order.
		if (step.func !== undefined)
			step.node = grow(shape, step.node, step.func, step.inlined);
		for (const run of runs.reverse()) {
			if (run.func < 0 || (step.sum !== undefined && step.sum < limit)) {
				shape.cut += run.func < 0 ? 0 : 1;
				for (const item of run.items)
					place(item, step.node);
				continue;
			}
			pending.push({ node: step.node, func: run.func, inlined: run.inlined, sum: run.sum, items: climbed(run.items, at, base) });
		}
	}
}

// Moves items to their callers.
function climbed(items, at, base) {
	for (const item of items)
		at[item] = base.parent[at[item]];
	return items;
}

function invertedShape() {
	const shape = makeGrowing('all');
	const costs = compared ? entryCosts(0).map(function (cost, i) { return cost + entryCosts(1)[i]; }) : entryCosts(value);
	const groups = by === 0 ? [['', profile.entries.node.map(function (node, i) { return i; })]] : groupEntries();
	const limit = SMALLEST * costs.reduce(function (sum, cost) { return sum + cost; }, 0);
	for (const group of groups) {
		const entries = Array.from(group[1]).filter(function (entry) { return costs[entry] !== 0; });
		if (entries.length === 0)
			continue;
		const from = by === 0 ? 0 : growGroup(shape, group[0]);
		climb(shape, from, entries.map(function (entry) { return profile.entries.node[entry]; }),
			entries.map(function (entry) { return costs[entry]; }), limit, function (item, node) { shape.ends[entries[item]] = node; });
	}
	return finish(shape);
}

// The outermost nodes of a function; nested ones are part of them.
function outermost(func) {
	const base = profile.nodes, nodes = [];
	for (let at = 1; at < base.count;) {
		if (base.func[at] === func) {
			nodes.push(at);
			at = base.end[at];
		} else {
			at++;
		}
	}
	return nodes;
}

// Calls act for the entries below each of some consecutive nodes; entries are sorted by node.
function entriesBelow(nodes, act) {
	const node = profile.entries.node, end = profile.nodes.end;
	let i = 0;
	nodes.forEach(function (from, index) {
		while (i < node.length && node[i] < from)
			i++;
		for (; i < node.length && node[i] < end[from]; i++)
			act(i, index);
	});
}

function callersShape(func) {
	const nodes = outermost(func), total = costOf(wholeShape(), value).total, shape = makeGrowing(profile.functions.name[func]);
	const ends = new Int32Array(nodes.length);
	shape.func[0] = func;
	climb(shape, 0, nodes.map(function (node) { return profile.nodes.parent[node]; }), nodes.map(function (node) { return total[node]; }),
		0, function (item, node) { ends[item] = node; });
	entriesBelow(nodes, function (entry, index) { shape.ends[entry] = ends[index]; });
	return finish(shape);
}

// Merges the subtrees of all outermost nodes.
function calleesShape(func) {
	const base = profile.nodes, nodes = outermost(func), shape = makeGrowing(profile.functions.name[func]);
	const places = new Int32Array(base.count).fill(-1), pending = [{ node: 0, sources: nodes }];
	shape.func[0] = func;
	while (pending.length > 0) {
		const step = pending.pop(), children = new Map();
		if (step.func !== undefined)
			step.node = grow(shape, step.node, step.func, step.inlined);
		for (const source of step.sources) {
			places[source] = step.node;
			for (let child = source + 1; child < base.end[source]; child = base.end[child]) {
				const known = children.get(base.func[child]);
				if (known)
					known.push(child);
				else
					children.set(base.func[child], [child]);
			}
		}
		for (const key of Array.from(children.keys()).sort(function (a, b) { return b - a; })) {
			const sources = children.get(key);
			pending.push({ node: step.node, func: key, sources: sources,
				inlined: sources.every(function (source) { return base.inlined[source]; }) ? 1 : 0 });
		}
	}
	entriesBelow(nodes, function (entry) { shape.ends[entry] = places[profile.entries.node[entry]]; });
	return finish(shape);
}

// A cache: results are kept until another one of their kind is needed.
const kept = new Map();

function keep(key, make) {
	if (!kept.has(key)) {
		for (const old of kept.keys())
			if (old.split(' ')[0] === key.split(' ')[0])
				kept.delete(old);
		kept.set(key, make());
	}
	return kept.get(key);
}

function graphShape(inverted) {
	if (inverted)
		return keep('inverted ' + [by, value, version].join(), invertedShape);
	return by === 0 ? wholeShape() : keep('called ' + by, groupShape);
}

// The self and total cost of each function; a stack counts once even if the function occurs several
// times.
function tally(which) {
	return keep('tally' + which + ' ' + version, function () {
		const base = wholeShape(), cost = costOf(base, which), count = profile.functions.count;
		const self = new Float64Array(count), total = new Float64Array(count), inside = new Int32Array(count);
		for (let at = 1; at < base.count; at++) {
			const func = base.func[at];
			self[func] += cost.self[at];
			if (at >= inside[func]) { // not nested in the same function
				total[func] += cost.total[at];
				inside[func] = base.end[at];
			}
		}
		return { self: self, total: total, whole: cost.total[0] };
	});
}
