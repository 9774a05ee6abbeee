// SPDX-License-Identifier: BSD-2-Clause
// The leaks by site, with confidence, evidence and advice.

let leakTable = null;
const leakOrder = ['definite', 'probable', 'growth', 'possible', 'unscanned', 'indirect', 'reachable', 'lifetime']; // most certain first
const leakMeanings = { definite: 'nothing points to it', probable: 'only memory that is no longer in use points to it', growth: 'its allocation site grows without bound',
	possible: 'pointers lead into it, none to its start', unscanned: 'not freed, and no scan looked for pointers to it', indirect: 'only lost blocks point to it',
	reachable: 'the program can still reach it' };

function leakColumn(key, title, tells, text) {
	return { key: key, title: title, tells: tells, number: function (id) { return heap.leaks.leaks[id][key]; }, text: function (id) { return text(heap.leaks.leaks[id][key]); } };
}

function leakColumns() {
	return [
		{ key: 'name', title: 'Function', words: true, text: function (id) { return plain(heap.leaks.leaks[id].function_name); } },
		{ key: 'file', title: 'Line', words: true, text: function (id) { return shortFile(heap.leaks.leaks[id]) || plain(heap.leaks.leaks[id].module.replace(/^.*\//, '')); } },
		{ key: 'class', title: 'Class', tells: 'class', number: function (id) { return -leakOrder.indexOf(heap.leaks.leaks[id].class); },
			text: function (id) { return heap.leaks.leaks[id].class; } },
		leakColumn('confidence', 'Confidence', 'confidence that it is a leak', function (value) { return value.toFixed(2); }),
		leakColumn('bytes', 'Bytes', 'bytes', bytesText),
		leakColumn('blocks', 'Blocks', 'blocks', countText),
		leakColumn('indirect_bytes', 'Indirect', 'bytes of lost blocks that it points to', function (bytes) { return bytes > 0 ? bytesText(bytes) : '-'; }),
		leakColumn('age_ns', 'Age', 'age of the oldest block', timeText),
	];
}

// Memory that is in use and does not grow is not a leak; it is listed last.
function leakWords() {
	const leaks = heap.leaks, parts = [];
	for (const name of leakOrder)
		if (leakMeanings[name] && leaks.sums[name].blocks > 0)
			parts.push(name + ' ' + bytesText(leaks.sums[name].bytes) + ' in ' + blocksText(leaks.sums[name].blocks) + ' (' + leakMeanings[name] + ')');
	const found = parts.length > 0 ? parts.join('; ') + '.' : 'No unfreed blocks.';
	if (!leaks.scanned)
		return 'This recording has no leak scan, so unfreed blocks may still be in use; wick heap --leaks adds a scan. ' + found;
	const unread = leaks.scans.some(function (scan) { return scan.unread_bytes > 0 || scan.unread_threads > 0; });
	return found + (unread ? ' Some memory could not be read: what it points to may be reported as lost.' : '');
}

function chooseLeak(id) {
	const host = byId('leak'), leak = heap.leaks.leaks[leakTable.chosen === id ? -1 : id];
	leakTable.chosen = leak ? id : -1;
	fillRows(leakTable);
	host.textContent = '';
	host.hidden = !leak;
	if (!leak)
		return;
	element(HTML, 'h3', host, placeText(leak) + ': ' + leak.class + ', ' + bytesText(leak.bytes) + ' in ' + blocksText(leak.blocks));
	element(HTML, 'p', host, leak.evidence.map(plain).join('; ') + ' (' + leak.method + ', confidence ' + leak.confidence.toFixed(2) + ').');
	element(HTML, 'p', host, leak.advice).setAttribute('class', 'advice');
	leak.stacks.forEach(function (stack) {
		element(HTML, 'p', host, bytesText(stack.bytes) + ' in ' + blocksText(stack.blocks) + ', allocated by');
		putFrames(host, stack.frames.map(function (frame) { return [frame.function_name, frame.module, frame.file, frame.line, frame.inlined]; }), leak);
	});
	if (leak.stack_count > leak.stacks.length)
		element(HTML, 'p', host, 'and ' + countText(leak.stack_count - leak.stacks.length) + ' more stacks');
	host.focus({ preventScroll: true });
}

function makeLeaks() {
	const leaks = heap.leaks.leaks;
	byId('leaks-told').textContent = leakWords() + (heap.leaks.more > 0 ? ' ' + countText(heap.leaks.more) + ' more sites: run wick leaks FILE.' : '');
	byId('leaks').hidden = leaks.length === 0;
	leakTable = makeSortedTable({ host: byId('leaks'), columns: leakColumns(), sort: 'class', upwards: false, chosen: -1,
		list: function () { return leaks.map(function (leak, i) { return i; }); }, tie: function (a, b) { return a - b; },
		choose: chooseLeak, changed: function () { showRows(leakTable); } });
	showRows(leakTable);
	byId('leaks').addEventListener('keydown', function (event) {
		if (event.target !== byId('leaks'))
			return;
		if (event.key === 'Enter' && leakTable.rows.length > 0)
			chooseLeak(leakTable.rows[leakTable.row]);
		else if (!rowKey(leakTable, event.key))
			return;
		event.preventDefault();
	});
}
