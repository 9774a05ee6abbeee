// SPDX-License-Identifier: BSD-2-Clause
// Measures the web page: its size, what the first paint costs, how long a flame graph of one hour takes from the
// click to the picture, and a step of the live view with 10,000 boxes. CPU time of the main threads, so that a
// busy machine changes little; the CPU time of the whole browser and of the server, and the wall time, are told,
// but have no limit. STORE is a folder that `store_bench fill` filled with a day that ends now, of 100 million rows,
// say; without it the store has few rows: then the server has less to do, the page has not.
//
//	node site_speed.mjs BUILD "" [ROWS [STORE]]
import { readdirSync, readFileSync } from 'node:fs';
import { check } from './lib/page.mjs';
import { done, ingest, makeFolder, openBrowser, startServer } from './lib/site.mjs';

const ROWS = Number(process.argv[4] ?? 100000), STACKS = 1000, SERVICES = 20, SIZE_MOST = 300 * 1024;
const STORE = process.argv[5], SERVICE = STORE ? 'service7' : 'service-7';
const server = await startServer(makeFolder(), '--max-rate', '100000', ...(STORE ? ['--data', STORE] : []));
const now = Math.floor(Date.now() / 1000);

// 1,000 stacks, some 10,000 boxes, as in speed.folded.
const stacks = (seed) => Array.from({ length: STACKS }, (_, i) =>
	`main;a${Math.floor(i / 100)};b${Math.floor(i / 10)};${Array.from({ length: 10 }, (__, k) => `f${i}_${k}`).join(';')} ${10 + (i * 7 + seed) % 13}`);
const push = (service, seed, until) => ingest(server.url, `service-${service}`, { host: `a${seed % 10}`, release: seed % 2 ? '1.0' : '1.1' }, stacks(seed), until - 10, until);

// All services over the last hour, the newest windows last.
const windows = STORE ? 0 : Math.max(1, Math.round(ROWS / STACKS / SERVICES));
for (let i = 0; i < windows; i++)
	await Promise.all(Array.from({ length: SERVICES }, (_, service) => push(service, i, now - 3500 + Math.floor(3400 * i / windows))));

const opened = await openBrowser(server.url);
const { page, context } = opened;
const client = await context.newCDPSession(page);

// What a main thread has worked, in ms.
async function work(session, frame) {
	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	await frame.evaluate(() => new Promise((painted) => { requestAnimationFrame(() => requestAnimationFrame(painted)); }));
	const { metrics } = await session.send('Performance.getMetrics');
	return 1000 * metrics.find((each) => each.name === 'TaskDuration').value;
}

// The CPU time in ms of a process and of what it started, except one.
function usedBy(pid, except = 0) {
	const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => {
		try {
			const text = readFileSync(`/proc/${name}/stat`, 'latin1'), words = text.slice(text.lastIndexOf(')') + 2).split(' ');
			return { pid: Number(name), parent: Number(words[1]), ms: 10 * (Number(words[11]) + Number(words[12])) };
		} catch {
			return null; // it has ended
		}
	}).filter((each) => each && each.pid !== except);
	const sum = (at) => at.ms + all.filter((each) => each.parent === at.pid).reduce((ms, each) => ms + sum(each), 0);
	return all.filter((each) => (except ? each.parent : each.pid) === pid).reduce((ms, each) => ms + sum(each), 0);
}

// What the browser and the server have worked since the last call.
let used = [0, 0];
function tellAll(name) {
	const last = used;
	used = [usedBy(process.pid, server.child.pid), usedBy(server.child.pid)];
	if (name)
		console.log(`${name}: all of the browser ${used[0] - last[0]} ms, the server ${used[1] - last[1]} ms`);
}

function tell(name, limit, spent) {
	console.log(`${name}: ${spent.toFixed(0)} ms of CPU`);
	check(`${name} takes at most ${limit} ms of CPU`, spent <= limit, spent);
}

// A frame without an origin may have a process of its own; otherwise its work is that of the page.
async function sessionOf(frame) {
	try {
		return await context.newCDPSession(frame);
	} catch {
		return null;
	}
}

// Size and first paint
let size = 0;
const sizes = [];
page.on('response', (response) => {
	if (!/\/api\//.test(response.url()))
		sizes.push(response.body().then((body) => { size += body.length; }));
});
await client.send('Performance.enable', { timeDomain: 'threadTicks' });
const before = await work(client, page);
tellAll();
const opening = performance.now();
await page.goto(server.url);
await page.waitForSelector('.list a');
await page.waitForFunction(() => !document.querySelector('.list').closest('[aria-busy]'));
console.log(`the list: ${(performance.now() - opening).toFixed(0)} ms until its numbers are there`);
tellAll('the first paint');
tell(`the first paint of ${SERVICES} services`, 1000, await work(client, page) - before);
await Promise.all(sizes);
const live = await (await fetch(`${server.url}/page/live.js`)).arrayBuffer(), stream = await (await fetch(`${server.url}/page/live_stream.js`)).arrayBuffer();
size += live.byteLength + stream.byteLength; // loaded later
console.log(`the page has ${size} bytes`);
check('the page has at most 300 KB', size > 10000 && size <= SIZE_MOST, size);

// From the click to the picture: the frame says when it has drawn.
await page.evaluate(() => {
	window.drawn = [];
	window.addEventListener('message', (event) => event.data.wick === 'ready' && window.drawn.push({ at: performance.now(), boxes: event.data.boxes }));
});
const started = await work(client, page);
tellAll();
const clicked = await page.evaluate((name) => {
	[...document.querySelectorAll('.list a')].find((each) => each.textContent === name).click();
	return performance.now();
}, SERVICE);
await page.waitForFunction(() => window.drawn.length > 0);
const drawn = await page.evaluate(() => window.drawn[0]);
const framed = async () => (await page.waitForSelector('.flame iframe')).contentFrame();
const frame = await framed(), inside = await sessionOf(frame);
tellAll('a flame graph of one hour');
console.log(`one hour, ${STORE ? STORE : windows * SERVICES * STACKS + ' rows in the store'}, ${drawn.boxes} boxes: ${(drawn.at - clicked).toFixed(0)} ms from the click to the picture`);
tell('a flame graph of one hour', 500, await work(client, page) - started + (inside ? await work(inside, frame) : 0));

// Steps
await push(7, 1, Math.floor(Date.now() / 1000));
await page.evaluate(() => {
	window.drawn.length = 0;
	location.hash = '#/live/service-7?window=600';
});
await page.waitForFunction(() => window.drawn.length > 0);
const moving = await framed(), session = await sessionOf(moving) ?? client, steps = [];
check('there are some 10,000 boxes', await page.evaluate(() => window.drawn[0].boxes) > 9900, JSON.stringify(await page.evaluate(() => window.drawn[0])));
for (let i = 1; i <= 5; i++) {
	const spent = await work(session, moving);
	await push(7, i, Math.floor(Date.now() / 1000));
	await page.waitForFunction((count) => window.drawn.length > count, i, { polling: 500 });
	steps.push(await work(session, moving) - spent);
}
console.log(`steps: ${steps.map((each) => each.toFixed(0)).join(' ')} ms`);
tell('a step of the live view', 50, [...steps].sort((a, b) => a - b)[2]);
await done(opened);
