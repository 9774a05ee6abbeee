// SPDX-License-Identifier: BSD-2-Clause
// Sizes, lifetimes, threads.

function putHeads(table, titles) {
	const row = element(HTML, 'tr', element(HTML, 'thead', table));
	for (const title of titles)
		element(HTML, 'th', row, title).setAttribute('scope', 'col');
	return element(HTML, 'tbody', table);
}

// A row of texts; a text that ends in % is drawn as a bar.
function putBar(body, name, texts) {
	const row = element(HTML, 'tr', body);
	element(HTML, 'th', row, name).setAttribute('scope', 'row');
	for (const text of texts) {
		const cell = element(HTML, 'td', row, text);
		if (/%$/.test(text)) {
			cell.setAttribute('class', 'share');
			cell.style.setProperty('--share', text);
		}
	}
}

// The four classes of a power of two form one row.
function sizeRows() {
	const rows = new Map();
	for (const size of heap.classes) {
		const log = size[0] < 16 ? 3 : Math.floor(Math.log2(size[0]));
		const row = rows.get(log) || [0, 0, 0, 0, 0];
		rows.set(log, row.map(function (sum, i) { return sum + size[i + 1]; }));
	}
	return Array.from(rows).sort(function (a, b) { return a[0] - b[0]; });
}

function sizeText(log) {
	const shorter = function (bytes) { return bytesText(bytes).replace(/\.0+ /, ' '); };
	return log === 3 ? 'up to 15 B' : shorter(Math.pow(2, log)) + ' \u2013 ' + shorter(Math.pow(2, log + 1) - (log < 10 ? 1 : 0));
}

function showSizes() {
	const body = putHeads(byId('sizes'), ['Size', 'Blocks', '', 'Allocated', 'At peak', 'At end', 'Temporary']);
	const totals = heap.totals;
	for (const row of sizeRows())
		putBar(body, sizeText(row[0]), [countText(row[1][0]), percent(row[1][0], totals.allocated.blocks), bytesText(row[1][1]), bytesText(row[1][2]),
			bytesText(row[1][3]), totals.sampled ? '-' : countText(row[1][4])]);
}

// Ranges of lifetimes, each twice as long as the previous one, or four times if there are many.
// Includes empty ranges in between.
function lifetimeRows(lifetimes) {
	const last = lifetimes[lifetimes.length - 1].from_ns, times = last / Math.max(64, lifetimes[0].from_ns) > 16384 ? 4 : 2;
	const rows = [];
	for (let from = lifetimes[0].from_ns; from <= last; from = from > 0 ? times * from : 128) {
		const end = from > 0 ? times * from : 128;
		rows.push({ from: from, end: end, blocks: lifetimes.reduce(function (sum, each) {
			return each.from_ns >= from && each.from_ns < end ? sum + each.blocks : sum;
		}, 0) });
	}
	return rows;
}

function putLifetimes(table, lifetimes) {
	const whole = lifetimes.reduce(function (sum, each) { return sum + each.blocks; }, 0);
	let sum = 0;
	if (lifetimes.length === 0) {
		putBar(element(HTML, 'tbody', table), 'nothing was freed', []);
		return;
	}
	const body = putHeads(table, ['Lifetime', 'Blocks', '', 'Cumulative']);
	for (const row of lifetimeRows(lifetimes)) {
		sum += row.blocks;
		putBar(body, row.from > 0 ? timeText(row.from) + ' \u2013 ' + timeText(row.end) : 'less than 128 ns', [countText(row.blocks), percent(row.blocks, whole),
			percent(sum, whole).replace('%', ' %')]);
	}
}

let threadTable = null;

function threadColumn(key, title, tells, number, text) {
	return { key: key, title: title, tells: tells, number: function (id) { return number(heap.threads[id]); },
		text: function (id) { return text(number(heap.threads[id])); } };
}

function makeThreads() {
	threadTable = makeSortedTable({ host: byId('threads'), columns: [
		{ key: 'name', title: 'Thread', words: true, text: function (id) { return plain(heap.threads[id].name) + '/' + heap.threads[id].tid; } },
		{ key: 'process', title: 'Process', words: true, text: function (id) { return plain(heap.threads[id].process) + '/' + heap.threads[id].pid; } },
		threadColumn('most', 'Peak', 'highest live bytes among its allocations', function (thread) { return thread.most_bytes; }, bytesText),
		threadColumn('end', 'At end', 'bytes live at the end', function (thread) { return thread.live.bytes; }, bytesText),
		threadColumn('allocated', 'Allocated', 'bytes allocated', function (thread) { return thread.allocated.bytes; }, bytesText),
		threadColumn('blocks', 'Blocks', 'blocks allocated', function (thread) { return thread.allocated.blocks; }, countText),
		threadColumn('temporary', 'Temporary', 'share of temporary blocks', function (thread) {
			return thread.allocated.blocks > 0 ? thread.temporary_blocks / thread.allocated.blocks : 0;
		}, function (share) { return percent(share, 1); }),
		threadColumn('freed', 'Freed', 'blocks it freed', function (thread) { return thread.freed.blocks; }, countText),
		threadColumn('foreign', 'Foreign', 'blocks it freed that other threads allocated', function (thread) { return thread.foreign_blocks; }, countText),
	], sort: 'allocated', upwards: false, list: function () { return heap.threads.map(function (thread, i) { return i; }); },
	tie: function (a, b) { return a - b; }, choose: function () { }, changed: function () { showRows(threadTable); } });
	byId('threads').addEventListener('keydown', function (event) {
		if (event.target === byId('threads') && rowKey(threadTable, event.key))
			event.preventDefault();
	});
}
