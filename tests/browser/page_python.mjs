// SPDX-License-Identifier: BSD-2-Clause
// Checks the page of a recording of a Python program that has CPU, off-CPU and heap: Python functions
// are in the graph and in the source pane, and a part of the time that is chosen on the heap shows
// exactly what wick report --from --to says of them.
//
//	node page_python.mjs PYTHON.html SCREENSHOT-FOLDER-OR-"" WICK PYTHON.wick
import { execFileSync } from 'node:child_process';
import { check, finish } from './lib/page.mjs';
import { boxes, openHtml } from './lib/html.mjs';

const [wick, recording] = process.argv.slice(4);
const opened = await openHtml();
const { page, shot, file } = opened;
const about = await page.evaluate(() => JSON.parse(document.getElementById('about').textContent));
const ms = about.page.slice_ns / 1e6;
const lanes = await page.$$eval('#lanes > *', (all) => all.map((each) => each.textContent));
check('the thread, heap and memory are on the timeline', /^python3/.test(lanes[0]) && lanes.some((lane) => /^heap /.test(lane)) && lanes.some((lane) => /^resident/.test(lane)), lanes.join());

// The time of a Python function in the graph, and in the report of the same part.
async function shown(name) {
	return (await boxes(page)).filter((box) => box.name === name).reduce((sum, box) => sum + box.total, 0);
}

function said(name, from, to) {
	const told = JSON.parse(execFileSync(wick, ['report', '--format', 'json', '--limit', '0', '--event', 'wall', '--from', `${from * ms}ms`, '--to', `${to * ms}ms`, recording], { encoding: 'utf8' }));
	return told.rows.filter((row) => row.name === name).reduce((sum, row) => sum + row.total, 0);
}

check('Python functions are in the graph', await shown('busy') > 0 && await shown('asleep') > 0);

// The end of the program is after its last work: there it sleeps.
const times = await page.locator('#times').boundingBox();
const heap = lanes.findIndex((lane) => /^heap /.test(lane));
await page.mouse.move(times.x + 0.3 * times.width, times.y + heap * 18 + 9);
await page.mouse.down();
await page.mouse.move(times.x + 0.8 * times.width, times.y + heap * 18 + 9);
await page.mouse.up();
const hash = await page.evaluate(() => location.hash);
check('dragging over the heap chooses a part of the time', /^#t=\d+-\d+$/.test(hash), hash);
const [from, to] = hash.slice(3).split('-').map(Number);
for (const name of ['busy', 'asleep'])
	check(`the graph shows the time of ${name} in that part`, await shown(name) === said(name, from, to), `${await shown(name)} ${said(name, from, to)}`);
await shot('page-python');

await page.goto(`${file}#w=source&f=busy`);
const lines = await page.$$eval('#lines tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
check('the source pane shows Python lines with their cost', lines.some((line) => line[1] && /sum\(range\(500\)\)/.test(line[3])), JSON.stringify(lines.filter((line) => line[0])));
await finish(opened);
