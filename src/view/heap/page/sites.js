// SPDX-License-Identifier: BSD-2-Clause
// The allocation sites, and the stacks of the selected one.

let siteTable = null;
let pattern = '';
let waiting = 0; // timer: waits for more input

function siteColumn(key, title, tells, number, text) {
	return { key: key, title: title, tells: tells, number: function (id) { return number(heap.sites[id]); },
		text: function (id) { return text(number(heap.sites[id]), heap.sites[id]); } };
}

function temporaryShare(site) {
	return site.allocated.blocks > 0 ? site.temporary_blocks / site.allocated.blocks : 0;
}

function siteColumns() {
	return [
		{ key: 'name', title: 'Function', words: true, text: function (id) { return plain(heap.sites[id].function_name); } },
		{ key: 'file', title: 'Line', words: true, text: function (id) { return shortFile(heap.sites[id]) || plain(heap.sites[id].module.replace(/^.*\//, '')); } },
		siteColumn('peak', 'At peak', 'bytes live at the peak', function (site) { return site.peak.bytes; }, bytesText),
		Object.assign(siteColumn('share', '%', 'share of the peak', function (site) { return site.peak.bytes; }, function (bytes) {
			return percent(bytes, heap.totals.peak.bytes);
		}), { share: true }),
		siteColumn('end', 'At end', 'bytes live at the end', function (site) { return site.live.bytes; }, bytesText),
		siteColumn('allocated', 'Allocated', 'bytes allocated', function (site) { return site.allocated.bytes; }, bytesText),
		siteColumn('blocks', 'Blocks', 'blocks allocated', function (site) { return site.allocated.blocks; }, countText),
		siteColumn('average', 'Average', 'average bytes per block', function (site) { return site.average_bytes; }, bytesText),
		siteColumn('temporary', 'Temporary', 'share of temporary blocks', temporaryShare, function (share) { return percent(share, 1); }),
		siteColumn('lifetime', 'Lifetime', 'median lifetime of freed blocks', function (site) { return site.freed_blocks > 0 ? site.lifetime_median_ns : -1; },
			function (ns) { return ns < 0 ? '-' : timeText(ns); }),
	];
}

// A site matches by its own names, or by the functions of its stacks.
function matches(site, test, lines) {
	return test.test(site.function_name) || test.test(fileText(site.file, site.line)) || test.test(site.module) ||
		site.where.some(function (stack) { return stack.frames.some(function (frame) { return lines[lineIndex(frame)]; }); });
}

function listSites() {
	const test = testOf(pattern), all = heap.sites.map(function (site, i) { return i; });
	byId('search').classList.toggle('bad', test === undefined);
	if (!test)
		return all;
	const lines = heap.lines.map(function (line) { return test.test(line[0]); }); // lines are shared by stacks
	return all.filter(function (i) { return matches(heap.sites[i], test, lines); });
}

function showSites() {
	showRows(siteTable);
	const count = siteTable.rows.length, more = heap.more.places;
	byId('found').textContent = testOf(pattern) === undefined ? 'invalid regular expression' : countText(count) + (count === 1 ? ' site' : ' sites') +
		(more > 0 ? ', ' + countText(more) + ' smaller sites with ' + bytesText(heap.more.peak) + ' at the peak are left out' : '');
}

function filter(text) {
	clearTimeout(waiting);
	pattern = text;
	byId('search').value = text;
	showSites();
	remember();
}

// Inlined frames have negative numbers.
function lineIndex(frame) {
	return frame < 0 ? -frame - 1 : frame;
}

// Frames as [function, module, file, line, is inlined]; the line of the site is marked.
function putFrames(parent, frames, place) {
	const list = element(HTML, 'ol', parent);
	let isFound = false;
	list.setAttribute('class', 'stack');
	for (const frame of frames) {
		const item = element(HTML, 'li', list);
		const isHere = !isFound && frame[0] === place.function_name && frame[2] === place.file && frame[3] === place.line;
		isFound = isFound || isHere;
		item.setAttribute('class', isHere ? 'here' : '');
		element(HTML, 'span', item, plain(frame[0]) + (frame[4] ? ' (inlined)' : '')).setAttribute('class', 'name');
		element(HTML, 'span', item, fileText(frame[2], frame[3]) || plain(frame[1].replace(/^.*\//, ''))).setAttribute('class', 'file');
	}
}

function putStack(parent, stack, site) {
	putFrames(parent, stack.frames.map(function (frame) { return heap.lines[lineIndex(frame)].concat(frame < 0); }), site);
}

function siteFacts(site) {
	const freed = site.freed_blocks, facts = [['at the peak', bytesText(site.peak.bytes) + ' in ' + blocksText(site.peak.blocks)],
		['at the end', bytesText(site.live.bytes) + ' in ' + blocksText(site.live.blocks)],
		['allocated', bytesText(site.allocated.bytes) + ' in ' + blocksText(site.allocated.blocks)],
		['sizes', bytesText(site.size_min) + ' \u2013 ' + bytesText(site.size_max) + ', ' + bytesText(site.average_bytes) + ' on average'],
		['temporary', percent(temporaryShare(site), 1)],
		['first and last allocation', 'after ' + timeText(site.first_ns) + ' and ' + timeText(site.last_ns)]];
	if (freed > 0)
		facts.push(['lifetime', 'median ' + timeText(site.lifetime_median_ns) + ', mean ' + timeText(site.lifetime_mean_ns)],
			['freed by other threads', blocksText(site.foreign_blocks) + ', ' + percent(site.foreign_blocks, freed)]);
	if (site.reallocs > 0)
		facts.push(['realloc', blocksText(site.reallocs) + ' came from realloc, ' + countText(site.moved_blocks) + ' were moved by it']);
	return facts;
}

function showSite() {
	const host = byId('site');
	host.hidden = chosen < 0;
	host.textContent = '';
	if (chosen < 0)
		return;
	const site = heap.sites[chosen];
	element(HTML, 'h3', host, plain(site.function_name));
	element(HTML, 'p', host, [fileText(site.file, site.line), plain(site.module)].filter(Boolean).join(' \u00b7 '));
	const pair = element(HTML, 'div', host);
	pair.setAttribute('class', 'pair');
	const stacks = element(HTML, 'div', pair), facts = element(HTML, 'div', pair);
	site.where.forEach(function (stack, i) {
		const part = element(HTML, 'details', stacks);
		part.open = i === 0;
		element(HTML, 'summary', part, (site.stacks > 1 ? 'Stack ' + (i + 1) + ' of ' + countText(site.stacks) + ': ' : 'Stack: ') + bytesText(stack.peak) +
			' at the peak, ' + bytesText(stack.live) + ' at the end, ' + bytesText(stack.allocated) + ' allocated');
		putStack(part, stack, site);
	});
	if (site.stacks > site.where.length)
		element(HTML, 'p', stacks, countText(site.stacks - site.where.length) + ' more stacks with less at the peak');
	putRows(facts, siteFacts(site));
	if (site.lifetimes.length > 0) {
		element(HTML, 'h3', facts, 'Lifetimes');
		const table = element(HTML, 'table', facts);
		table.setAttribute('class', 'bars');
		putLifetimes(table, site.lifetimes);
	}
}

function chooseSite(site, isShown) {
	chosen = siteTable.chosen = site;
	fillRows(siteTable);
	showSite();
	drawChart();
	remember();
	if (site < 0)
		return;
	const rect = byId('site').getBoundingClientRect(), room = Math.min(rect.height + 12, 320);
	if (isShown && (rect.top > window.innerHeight - room || rect.top < 0)) // scroll only its head into view
		window.scrollBy(0, rect.top < 0 ? rect.top - 12 : rect.top - window.innerHeight + room);
}

function makeSites() {
	siteTable = makeSortedTable({ host: byId('sites'), columns: siteColumns(), sort: 'peak', upwards: false, chosen: -1, list: listSites,
		tie: function (a, b) { return a - b; },
		choose: function (site) { chooseSite(site === chosen ? -1 : site, true); },
		changed: function () {
			showSites();
			remember();
		} });
	byId('sites').addEventListener('keydown', function (event) {
		if (event.target !== byId('sites'))
			return;
		if (event.key === 'Enter' && siteTable.rows.length > 0)
			chooseSite(siteTable.rows[siteTable.row], true);
		else if (!rowKey(siteTable, event.key))
			return;
		event.preventDefault();
	});
	byId('search').addEventListener('input', function () {
		clearTimeout(waiting);
		waiting = setTimeout(function () { filter(byId('search').value); }, 150);
	});
}
keys.push(['/, Ctrl + F', 'filter sites by regular expression, including their stacks'], ['click, Enter', 'show the stacks of a site'],
	['arrow keys in a table', 'move from row to row']);
