// SPDX-License-Identifier: BSD-2-Clause
// The selection: a value type, a time range, a thread; and the cost of entries in it.

let value = page.value;
let slices = null;  // [first, one past the last]; null: the full range
let thread = -1;    // negative: all
let version = 0;    // of the time range and thread; results of another version are stale

let samplesValue = page.samples_value === undefined ? -1 : page.samples_value;

function valueName(which) {
	return page.values[which].name;
}

function unitOf(which) {
	return page.values[which].unit;
}

function hasTimes(which) {
	if (page.values[which].heap)
		return profile.slices > 1 && profile.blocks.count > 0;
	return profile.slices > 1 && profile.moments.count > 0 && baseOf(which) < profile.moments.values.length;
}

function select(newSlices, newThread) {
	slices = newSlices;
	thread = newThread;
	version++;
}

// The cost of each entry in the selection.
function sumEntries(which) {
	const entries = profile.entries, moments = profile.moments, whole = wholeOf(which);
	if (!slices && thread < 0)
		return whole;
	if (slices && page.values[which].heap)
		return sumBlocks(page.values[which].heap, thread, slices[0], slices[1]);
	const sums = new Float64Array(entries.count);
	const amounts = moments.values[baseOf(which)];
	for (let i = 0; i < entries.count; i++) {
		if (thread >= 0 && entries.thread[i] !== thread || !hasState(which, entries.state[i]))
			continue;
		if (!slices || !amounts) {
			sums[i] = whole[i];
			continue;
		}
		for (let k = moments.first[i]; k < moments.first[i + 1]; k++)
			if (moments.slice[k] >= slices[0] && moments.slice[k] < slices[1])
				sums[i] += amounts[k] + (which === samplesValue && moments.slice[k] === slices[1] - 1 ? moments.goingOn[k] : 0);
	}
	return sums;
}

const entrySums = { version: -1, byValue: [] };

function entryCosts(which) {
	if (entrySums.version !== version) {
		entrySums.version = version;
		entrySums.byValue = [];
	}
	if (!entrySums.byValue[which])
		entrySums.byValue[which] = sumEntries(which);
	return entrySums.byValue[which];
}

// The costs of a shape, whose "ends" give the node in which each entry ends (negative: none).
function sumShape(shape, which) {
	const self = new Float64Array(shape.count), total = new Float64Array(shape.count), begin = new Float64Array(shape.count);
	const amounts = entryCosts(which), ends = shape.ends, parent = shape.parent;
	for (let i = 0; i < ends.length; i++)
		if (ends[i] >= 0)
			self[ends[i]] += amounts[i];
	total.set(self);
	for (let i = shape.count - 1; i > 0; i--)
		total[parent[i]] += total[i];
	// Children begin where their parent does and follow each other: next position, by depth.
	const next = [0, 0], depth = shape.depth;
	for (let i = 1; i < shape.count; i++) {
		const level = depth[i], at = next[level];
		begin[i] = at;
		next[level] = at + total[i];
		next[level + 1] = at;
	}
	return { self: self, total: total, begin: begin };
}

function costOf(shape, which) {
	if (shape.version !== version) {
		shape.version = version;
		shape.costs = [];
	}
	if (!shape.costs[which])
		shape.costs[which] = sumShape(shape, which);
	return shape.costs[which];
}
