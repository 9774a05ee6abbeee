// SPDX-License-Identifier: BSD-2-Clause
// The values that can be selected: those of the file, time by thread state, and live memory. In a
// time range, heap values mean the same as in wick report --from --to: blocks allocated in the
// range. Only live_space includes earlier blocks.

// In the order of the file, starting at page.heap_value.
const HEAP_VALUES = [
	{ of: 'bytes', is: 'allocated' }, { of: 'blocks', is: 'allocated' }, { of: 'bytes', is: 'peak' }, { of: 'blocks', is: 'peak' },
	{ of: 'bytes', is: 'inuse' }, { of: 'blocks', is: 'inuse' }, { of: 'temporary', is: 'temporary' },
	{ of: 'bytes', is: 'allocated', pool: 1 }, { of: 'bytes', is: 'peak', pool: 1 }, { of: 'bytes', is: 'inuse', pool: 1 },
];
const INUSE_SPACE = 4;

function addValues() {
	const named = page.states.map(function (state, i) { return i; }).filter(function (i) { return page.states[i].name !== ''; });
	const main = page.values[page.main_value];
	for (const state of compared || named.length < 2 ? [] : named)
		page.values.push({ name: page.states[state].name, unit: main.unit, base: page.main_value, state: state });
	for (let i = page.heap_value; i < toldValues; i++)
		page.values[i].heap = HEAP_VALUES[i - page.heap_value];
	if (page.heap_value !== undefined)
		page.values.push({ name: 'live_space', unit: 'bytes', base: page.heap_value + INUSE_SPACE, heap: { of: 'bytes', is: 'live' } });
}
addValues();

// The value of the file from which a value is derived.
function baseOf(which) {
	return page.values[which].base === undefined ? which : page.values[which].base;
}

function valueNamed(name) {
	return page.values.findIndex(function (each) { return each.name === name; });
}

// Whether entries of a state are part of a value.
function hasState(which, state) {
	return page.values[which].state === undefined || page.values[which].state === state;
}

// The cost of entries in the full time range.
function wholeOf(which) {
	const entries = profile.entries;
	if (!entries.values[which])
		entries.values[which] = page.values[which].state === undefined ? entries.values[baseOf(which)]
			: entries.values[baseOf(which)].map(function (cost, i) { return hasState(which, entries.state[i]) ? cost : 0; });
	return entries.values[which];
}

// Values that are shown together: those of time and events, or those of the heap.
function familyOf(which) {
	const ofHeap = page.values[which].heap !== undefined;
	return page.values.map(function (each, i) { return i; }).filter(function (i) { return (page.values[i].heap !== undefined) === ofHeap; });
}

// Calls act(entry, block) for the blocks of selected entries, of pools or not.
function eachBlock(heap, onlyThread, act) {
	const blocks = profile.blocks, entries = profile.entries, pool = heap.pool || 0;
	for (let entry = 0; entry < entries.count; entry++)
		if (onlyThread < 0 || entries.thread[entry] === onlyThread)
			for (let i = blocks.first[entry]; i < blocks.first[entry + 1]; i++)
				if (blocks.isPool[i] === pool)
					act(entry, i);
}

// The level at the end of each slice, of blocks allocated in slice from or later.
function liveBySlice(heap, onlyThread, from) {
	const blocks = profile.blocks, amounts = blocks[heap.of], level = new Float64Array(profile.slices + 1);
	eachBlock(heap, onlyThread, function (entry, i) {
		if (blocks.slice[i] < from)
			return;
		level[blocks.slice[i]] += amounts[i];
		if (blocks.died[i] < profile.slices)
			level[blocks.died[i]] -= amounts[i];
	});
	for (let i = 1; i < level.length; i++)
		level[i] += level[i - 1];
	return level;
}

// The slice of a range at whose end most bytes are live, of blocks allocated in the range.
function peakSlice(heap, onlyThread, from, to) {
	const level = liveBySlice({ of: 'bytes', pool: heap.pool }, onlyThread, from);
	let peak = from;
	for (let i = from; i < to; i++)
		if (level[i] > level[peak])
			peak = i;
	return peak;
}

// The sums of entries in a time range.
function sumBlocks(heap, onlyThread, from, to) {
	const blocks = profile.blocks, amounts = blocks[heap.of], sums = new Float64Array(profile.entries.count);
	const peak = heap.is === 'peak' ? peakSlice(heap, onlyThread, from, to) : 0;
	const counts = {
		allocated: function (born) { return born >= from && born < to; },
		temporary: function (born, died) { return born >= from && died < to; },
		inuse: function (born, died) { return born >= from && born < to && died >= to; },
		live: function (born, died) { return born < to && died >= to; },
		peak: function (born, died) { return born >= from && born <= peak && died > peak; },
	}[heap.is];
	eachBlock(heap, onlyThread, function (entry, i) {
		if (counts(blocks.slice[i], blocks.died[i]))
			sums[entry] += amounts[i];
	});
	return sums;
}
