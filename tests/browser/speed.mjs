// SPDX-License-Identifier: BSD-2-Clause
// Measures a flame graph of some 10,000 boxes: what the page's main thread works until it
// is painted, for a zoom, a search and a switch. CPU time, so that a busy machine changes
// little; the limits are four times what is wanted.
//
//	node speed.mjs SPEED.svg
import { boxes, check, finish, open } from './lib/page.mjs';

const opened = await open();
const { page, file } = opened;
const client = await page.context().newCDPSession(page);
await client.send('Performance.enable', { timeDomain: 'threadTicks' });

async function work() {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
	const { metrics } = await client.send('Performance.getMetrics');
	return 1000 * metrics.find((m) => m.name === 'TaskDuration').value;
}

async function measure(name, limit, act) {
	const before = await work();
	await act();
	const spent = await work() - before;
	console.log(`${name}: ${spent.toFixed(0)} ms of CPU`);
	check(`${name} takes at most ${limit} ms of CPU`, spent <= limit, spent);
}

const count = (await page.evaluate(boxes)).length;
check('there are some 10,000 boxes', count > 9900, count);
await page.goto('about:blank');
await measure('opening and painting', 2000, () => page.goto(file));
const zoom = (name) => page.evaluate((wanted) => {
	const g = [...document.querySelectorAll('.frames:not([display]) g g')].find((c) => c.flameFrame.name === wanted);
	g.querySelector('rect').dispatchEvent(new MouseEvent('click', { bubbles: true }));
}, name);
await measure('zooming in', 400, () => zoom('a5'));
await measure('zooming out', 400, () => page.keyboard.press('Escape'));
await page.focus('.tools input');
await measure('searching', 200, async () => {
	await page.evaluate(() => { document.querySelector('.tools input').value = 'f[0-9]*[05]_[3-7]'; });
	await page.keyboard.press('Enter');
});
await measure('going to a match', 400, () => page.click('.next'));
await measure('turning over', 400, () => page.click('.icicle'));
await measure('inverting for the first time', 800, () => page.click('.inverted'));
await finish(opened);
