// SPDX-License-Identifier: BSD-2-Clause
// Checks the page of a recording that has CPU, off-CPU and heap: all of them are on the timeline,
// and a part of the time that is chosen on any of them shows, for each value, exactly what
// wick report --from --to says of it.
//
//	node page_tracks.mjs TRACKS.html SCREENSHOT-FOLDER-OR-"" WICK TRACKS.wick
import { execFileSync } from 'node:child_process';
import { check, finish } from './lib/page.mjs';
import { boxes, openHtml, tip } from './lib/html.mjs';

const [wick, recording] = process.argv.slice(4);
const opened = await openHtml();
const { page, shot, file } = opened;
const about = await page.evaluate(() => JSON.parse(document.getElementById('about').textContent));
const ms = about.page.slice_ns / 1e6;
const names = await page.$$eval('select[title^="what box widths"] option', (all) => all.map((each) => each.textContent));
const lanes = await page.$$eval('#lanes > *', (all) => all.map((each) => each.textContent));
check('values of time, of states and of the heap can be chosen', ['wall', 'on CPU', 'sleeping', 'alloc_space', 'peak_space', 'live_space'].every((name) => names.includes(name)), names.join());
check('threads, heap and memory are on the timeline', lanes[0] === 'all threads' && lanes.some((lane) => /^heap 4\.\d+ MiB$/.test(lane)) && lanes.some((lane) => /^resident/.test(lane)) && lanes.some((lane) => /tide/.test(lane)), lanes.join());

// Names of values by their numbers in the address, as the page numbers them.
const numbers = new Map(about.page.values.map((each, i) => [each.name, i]));
for (const state of about.page.states.filter((each) => each.name))
	numbers.set(state.name, numbers.size);
numbers.set('live_space', numbers.size);

async function totalOf(name, from, to) {
	await page.goto(`${file}#v=${numbers.get(name)}&t=${from}-${to}`);
	return (await boxes(page))[0]?.total ?? 0;
}

// What the report says of a part: all values of an event's family, or the one of time in a state.
function said(event, from, to, label) {
	const told = JSON.parse(execFileSync(wick, ['report', '--format', 'json', '--event', event, '--from', `${from * ms}ms`, '--to', `${to * ms}ms`, ...(label ? ['--label', `state=${label}`] : []), recording], { encoding: 'utf8' }));
	return Object.fromEntries((told.values ?? [told.value, { name: 'samples', total: told.samples }]).map((each) => [each.name, each.total]));
}

const slices = Number(await page.getAttribute('#times', 'aria-valuemax'));
for (const [from, to] of [[0, slices - 1], [3, 11], [8, 14]]) {
	const wanted = { ...said('wall', from, to), ...said('heap', from, to), sleeping: said('wall', from, to, 'sleeping').wall, live_space: said('heap', 0, to).inuse_space };
	const shown = {};
	for (const name of Object.keys(wanted))
		if (!name.startsWith('peak')) // which is known at the ends of slices
			shown[name] = await totalOf(name, from, to);
	check(`each value of slices ${from} to ${to} is that of the report`, shown.wall > 0 && Object.keys(shown).length === 9 && Object.keys(shown).every((name) => shown[name] === wanted[name]), `${JSON.stringify(shown)} ${JSON.stringify(wanted)}`);
	check('so is time on the CPU', await totalOf('on CPU', from, to) === (said('wall', from, to, 'on CPU').wall ?? 0));
}

// Dragging over the heap chooses the part for the threads as well, and the other way round.
await page.goto(`${file}#`);
const times = await page.locator('#times').boundingBox();
const heap = lanes.findIndex((lane) => /^heap /.test(lane));
await page.mouse.move(times.x + 0.4 * times.width, times.y + heap * 18 + 9);
check('a level tells how high it was', /^live heap\n.*\nhighest \d/.test(await tip(page)), await tip(page));
await page.mouse.down();
await page.mouse.move(times.x + 0.6 * times.width, times.y + heap * 18 + 9);
await page.mouse.up();
const hash = await page.evaluate(() => location.hash);
check('dragging over the heap chooses a part of the time', /^#t=\d+-\d+$/.test(hash), hash);
const [from, to] = hash.slice(3).split('-').map(Number);
check('which the graph shows', (await boxes(page))[0].total === said('wall', from, to).wall);
await page.click('#lanes .lane:has-text("heap")');
await shot('page-tracks');
check('the name of the heap shows whose it was then', (await boxes(page))[0].total === said('heap', 0, to).inuse_space && /^live_space .* at the end of this range/.test(await page.textContent('#summary')), await page.textContent('#summary'));
await page.keyboard.press('2');
check('the table follows', (await page.evaluate(() => window.wickPage.rows())).some((row) => /keep_some/.test(row)));
await page.goto(`${file}#w=source&f=rise&v=${numbers.get('alloc_space')}&t=8-20`);
const share = (await page.textContent('#sourceof')).match(/self .*?\(([\d.]+%)\)/)[1];
const lines = await page.$$eval('#lines tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
check('so do source lines', lines.some((line) => line[0] === share && /malloc\(100000\)/.test(line[3])) && /alloc_space in the selection/.test(await page.textContent('#file')), `${share} ${JSON.stringify(lines.filter((line) => line[0]))}`);
await page.click('#lanes .lane >> nth=0');
check('that of all threads shows time again', /^wall/.test(await page.textContent('#summary')), await page.textContent('#summary'));
await finish(opened);
