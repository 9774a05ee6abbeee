// SPDX-License-Identifier: BSD-2-Clause
// The summary: totals, and reasons to doubt them.

function putFact(name, value, more) {
	const fact = element(HTML, 'div', byId('facts'));
	element(HTML, 'dt', fact, name);
	element(HTML, 'dd', fact, value);
	element(HTML, 'dd', fact, more);
}

function blocksText(blocks) {
	return countText(blocks) + (Math.round(blocks) === 1 ? ' block' : ' blocks');
}

// The standard error of an estimate.
function errorText(name) {
	const error = heap.totals[name + '_error'];
	return error ? '\u00b1 ' + bytesText(error.bytes) + ', ' : '';
}

function showFacts() {
	const totals = heap.totals, blocks = totals.allocated.blocks;
	putFact('Peak', bytesText(totals.peak.bytes), errorText('peak') + 'in ' + blocksText(totals.peak.blocks) + ', after ' + timeText(totals.peak_ns));
	putFact('Allocated', bytesText(totals.allocated.bytes), errorText('allocated') + 'in ' + blocksText(blocks) + ', ' +
		bytesText(blocks > 0 ? totals.allocated.bytes / blocks : 0) + ' on average');
	putFact('Live at the end', bytesText(totals.live.bytes), errorText('live') + 'in ' + blocksText(totals.live.blocks) + ', ' +
		percent(totals.live.bytes, totals.peak.bytes) + ' of the peak');
	putFact('Temporary', percent(totals.temporary_blocks, blocks), blocksText(totals.temporary_blocks) + ' freed before their thread allocated again');
	putFact('Moved by realloc', percent(totals.moved_blocks, blocks), blocksText(totals.moved_blocks));
	putFact('Freed by another thread', percent(totals.foreign_blocks, totals.freed.blocks), blocksText(totals.foreign_blocks));
	putFact('Rounded up', percent(totals.slack_bytes, totals.allocated.bytes + totals.slack_bytes), bytesText(totals.slack_bytes) +
		' beyond the requested sizes');
	if (heap.pools)
		putFact('Custom pools', bytesText(heap.pools.totals.peak.bytes), 'peak, included above; ' + bytesText(heap.pools.totals.allocated.bytes) +
			' in ' + blocksText(heap.pools.totals.allocated.blocks));
}

function putDoubt(words, isDoubt) {
	element(HTML, 'li', byId('doubts'), words).setAttribute('class', isDoubt ? 'doubt' : 'fine');
}

// Name filters select stacks, others select blocks.
function isOfNames(filter) {
	return /^--(only|ignore|module)\b/.test(filter);
}

function showDoubts() {
	if (heap.totals.sampled)
		putDoubt('These are estimates: only some blocks were recorded, and each represents several. \u00b1 is one standard error.', true);
	if (heap.incomplete)
		putDoubt('The recording is incomplete: it was cut off, or the program is still running.', true);
	for (const doubt of heap.doubts)
		putDoubt(countText(doubt[0]) + ' ' + doubt[1] + '.', true);
	if (about.filters.length > 0)
		putDoubt('Filtered: ' + plain(about.filters.join(' ')) + '.' + (about.filters.some(isOfNames)
			? ' Sites include only matching stacks; totals, the chart, sizes and threads include all stacks.' : ''), true);
	if (heap.doubts.length === 0 && !heap.incomplete)
		putDoubt('Nothing is missing: all ' + countText(heap.quality.events) + ' events are present and consistent.', false);
}
