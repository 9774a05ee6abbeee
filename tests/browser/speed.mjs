// SPDX-License-Identifier: BSD-2-Clause
// Measures a flame graph of some 10,000 boxes: what the page's main thread works until it
// is painted first, until it can be used, for a zoom, a search and a switch. CPU time, so that a
// busy machine changes little; the limits are four times what is wanted.
//
//	node speed.mjs SPEED.svg
import { boxes, check, finish, open } from './lib/page.mjs';

const opened = await open();
const { page, file, browser } = opened;
const client = await page.context().newCDPSession(page);
await client.send('Performance.enable', { timeDomain: 'threadTicks' });

async function work() {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
	const { metrics } = await client.send('Performance.getMetrics');
	return 1000 * metrics.find((m) => m.name === 'TaskDuration').value;
}

function tell(name, limit, spent) {
	console.log(`${name}: ${spent.toFixed(0)} ms of CPU`);
	check(`${name} takes at most ${limit} ms of CPU`, spent <= limit, spent);
}

async function measure(name, limit, act) {
	const before = await work();
	await act();
	tell(name, limit, await work() - before);
}

// What the main thread has worked when the picture is first seen: the tasks up to then, by a trace.
async function untilPaint() {
	const events = [];
	const session = await browser.newBrowserCDPSession();
	session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
	await session.send('Tracing.start', { transferMode: 'ReportEvents',
		traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline', 'loading', 'rail'] } });
	await page.goto(file);
	await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
	const complete = new Promise((done) => session.once('Tracing.tracingComplete', done));
	await session.send('Tracing.end');
	await complete;
	const paint = events.filter((e) => e.name === 'firstContentfulPaint').pop();
	const tasks = events.filter((e) => e.name === 'RunTask' && e.pid === paint.pid && e.tid === paint.tid && e.ts < paint.ts);
	return tasks.reduce((sum, e) => sum + (e.tdur ?? 0) / 1000, 0);
}

const count = (await page.evaluate(boxes)).length;
check('there are some 10,000 boxes', count > 9900, count);
await page.goto('about:blank');
tell('the first paint', 2000, await untilPaint());
await page.goto('about:blank');
await measure('opening and painting', 2000, () => page.goto(file));
await page.evaluate(() => {
	window.wanted = [...document.querySelectorAll('.frames:not([display]) rect')].find((rect) => rect.flameFrame.name === 'a5');
});
await measure('zooming in', 200, () => page.evaluate(() => {
	window.wanted.dispatchEvent(new MouseEvent('click', { bubbles: true }));
}));
await measure('zooming out', 200, () => page.keyboard.press('Escape'));
await page.focus('.tools input');
await measure('searching', 200, async () => {
	await page.evaluate(() => { document.querySelector('.tools input').value = 'f[0-9]*[05]_[3-7]'; });
	await page.keyboard.press('Enter');
});
await measure('going to a match', 400, () => page.click('.next'));
await measure('turning over', 400, () => page.click('.icicle'));
await measure('inverting for the first time', 800, () => page.click('.inverted'));
await finish(opened);
