// SPDX-License-Identifier: BSD-2-Clause
// The profile in the file: packed columns of numbers (view/page/page_columns.h).

let page = about.page;
const compared = page.pair; // values: before, after, samples before, samples after

// The number of values in the file; derived values follow, see values.js.
let toldValues = page.values.length;

// The unpacked profile; see readProfile().
let profile = null;
const NEVER = 1 << 30; // a slice

function makeReader(bytes, at, end) {
	return { bytes: bytes, at: at, end: end };
}

function takeOne(reader) {
	let byte = reader.bytes[reader.at++];
	let number = byte & 127;
	for (let scale = 128; byte > 127; scale *= 128) {
		byte = reader.bytes[reader.at++];
		number += (byte & 127) * scale;
	}
	return number;
}

// Reads a column of 31-bit numbers. There may be millions, most of one or two bytes, so the loop is
// simple and always uses the same array types to be fast.
function take(reader, count) {
	const bytes = reader.bytes, into = new Int32Array(count);
	let at = reader.at;
	for (let i = 0; i < count; i++) {
		let byte = bytes[at++];
		let number = byte & 127;
		for (let shift = 7; byte > 127; shift += 7) {
			byte = bytes[at++];
			number |= (byte & 127) << shift;
		}
		into[i] = number;
	}
	reader.at = at;
	return into;
}

// Reads numbers that may be larger or negative.
function takeSigned(reader, count) {
	const into = new Float64Array(count);
	for (let i = 0; i < count; i++) {
		const number = takeOne(reader);
		into[i] = number % 2 ? -(number + 1) / 2 : number / 2;
	}
	return into;
}

function linesOf(reader) {
	const lines = new TextDecoder('utf-8', { ignoreBOM: true }).decode(reader.bytes.subarray(reader.at, reader.end)).split('\n');
	lines.pop();
	return lines;
}

function readFunctions(reader, texts) {
	const count = takeOne(reader);
	const column = function () { return take(reader, count); };
	const words = function () { return Array.from(column(), function (id) { return texts[id]; }); };
	return { count: count, name: words(), module: words(), file: words(), origin: column(), language: column(), hash: column(),
		moduleHash: column(), line: column(), source: column(), first: column(), last: column() };
}

function readThreads(reader, texts) {
	const threads = [];
	for (let left = takeOne(reader); left > 0; left--) {
		const numbers = take(reader, 4);
		threads.push({ pid: numbers[0], tid: numbers[1], name: texts[numbers[2]], process: texts[numbers[3]] });
	}
	return threads;
}

// The end of each subtree, from the depths or parents of nodes in pre-order.
function endsOf(parent) {
	const end = new Int32Array(parent.length);
	for (let i = parent.length - 1; i >= 0; i--) {
		if (end[i] === 0)
			end[i] = i + 1;
		if (i > 0 && end[i] > end[parent[i]])
			end[parent[i]] = end[i];
	}
	return end;
}

// A shape is a tree in pre-order: parent, end, depth, function (below 0: a group) and whether it is
// inlined. Node 0 is the root.
function readNodes(reader) {
	const count = takeOne(reader) + 1;
	const ups = take(reader, count - 1);
	const called = take(reader, count - 1);
	const parent = new Int32Array(count), depth = new Int32Array(count), func = new Int32Array(count);
	const inlined = new Uint8Array(count), last = [0];
	func[0] = -1;
	for (let i = 1; i < count; i++) {
		const level = depth[i - 1] + 1 - ups[i - 1];
		depth[i] = level;
		parent[i] = last[level - 1];
		last[level] = i;
		func[i] = called[i - 1] >>> 1;
		inlined[i] = called[i - 1] & 1;
	}
	return { count: count, parent: parent, end: endsOf(parent), depth: depth, func: func, inlined: inlined, labels: ['all'] };
}

function readEntries(reader) {
	const count = takeOne(reader);
	const node = take(reader, count);
	for (let i = 1; i < count; i++)
		node[i] += node[i - 1];
	const thread = take(reader, count), state = take(reader, count), lines = take(reader, count), values = [];
	while (values.length < toldValues)
		values.push(takeSigned(reader, count));
	return { count: count, node: node, thread: thread, state: state, lines: lines, values: values };
}

// Lists by entry: the items of entry i are first[i] to first[i + 1], sorted by slice.
function readByEntry(reader, count, entries) {
	const first = new Int32Array(entries.count + 1);
	if (count > 0)
		first.set(take(reader, entries.count), 1);
	for (let i = 0; i < entries.count; i++)
		first[i + 1] += first[i];
	const slice = take(reader, count);
	for (let entry = 0; entry < entries.count; entry++)
		for (let i = first[entry] + 1; i < first[entry + 1]; i++)
			slice[i] += slice[i - 1];
	return { count: count, first: first, slice: slice };
}

function readMoments(reader, entries) {
	const count = takeOne(reader), valueCount = takeOne(reader), moments = readByEntry(reader, count, entries);
	moments.values = [];
	while (moments.values.length < valueCount)
		moments.values.push(takeSigned(reader, count));
	moments.goingOn = takeSigned(reader, count);
	return moments;
}

// Blocks are allocated in a slice and freed in another, or never.
function readBlocks(reader, entries) {
	const count = takeOne(reader), blocks = readByEntry(reader, count, entries), ends = take(reader, count);
	blocks.died = ends.map(function (end, i) { return end < 2 ? NEVER : blocks.slice[i] + (end >> 1) - 1; });
	blocks.isPool = ends.map(function (end) { return end & 1; });
	blocks.bytes = takeSigned(reader, count);
	blocks.blocks = takeSigned(reader, count);
	blocks.temporary = takeSigned(reader, count);
	return blocks;
}

// Levels by slice; NaN: not known yet.
function readLevels(reader, texts) {
	const slices = takeOne(reader), levels = [];
	for (let left = takeOne(reader); left > 0; left--) {
		const told = take(reader, 6), cells = new Float64Array(slices).fill(NaN), changes = takeSigned(reader, slices - told[5]);
		let level = 0;
		changes.forEach(function (change, i) { cells[told[5] + i] = level += change; });
		levels.push({ kind: told[0], name: texts[told[1]], unit: texts[told[2]], process: texts[told[3]], pid: told[4], cells: cells });
	}
	return { slices: slices, levels: levels };
}

// The lines of stacks: a tree whose nodes are lines. An entry has twice the node in which it ends,
// plus 1 if that is the line of its leaf.
function readLines(reader) {
	const count = takeOne(reader), file = take(reader, count), line = take(reader, count);
	const nodes = takeOne(reader), parent = new Int32Array(nodes + 1), at = new Int32Array(nodes + 1);
	parent.set(take(reader, nodes), 1);
	at.set(take(reader, nodes), 1);
	for (let i = 1; i <= nodes; i++)
		parent[i] = i - parent[i];
	return { count: count, file: file, line: line, parent: parent, at: at };
}

function readFile(reader, texts) {
	const file = { name: texts[takeOne(reader)], state: takeOne(reader), costs: new Map(), excerpts: [], lines: new Map() };
	let line = 0;
	for (let left = takeOne(reader); left > 0; left--) {
		line += takeOne(reader);
		const both = takeSigned(reader, 2);
		file.costs.set(line, { self: both[0], total: both[1] });
	}
	for (let left = takeOne(reader); left > 0; left--)
		file.excerpts.push(take(reader, 2));
	return file;
}

function readSources(reader, texts) {
	const files = [];
	for (let left = takeOne(reader); left > 0; left--)
		files.push(readFile(reader, texts));
	const lines = linesOf(reader);
	let at = 0;
	for (const file of files)
		for (const excerpt of file.excerpts)
			for (let i = 0; i < excerpt[1]; i++)
				file.lines.set(excerpt[0] + i, lines[at++]);
	return files;
}

function readProfile(buffer) {
	const whole = makeReader(new Uint8Array(buffer), 0, 0);
	const section = function () {
		const size = takeOne(whole);
		whole.at += size;
		return makeReader(whole.bytes, whole.at - size, whole.at);
	};
	const texts = linesOf(section());
	const read = { functions: readFunctions(section(), texts), threads: readThreads(section(), texts), nodes: readNodes(section()),
		entries: readEntries(section()) };
	read.moments = readMoments(section(), read.entries);
	read.blocks = readBlocks(section(), read.entries);
	Object.assign(read, readLevels(section(), texts));
	read.lines = readLines(section());
	read.sources = readSources(section(), texts);
	return read;
}
