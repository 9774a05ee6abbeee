// SPDX-License-Identifier: BSD-2-Clause
// Measures the page of 100,000 stacks of 40 frames: what its main thread works until it is
// painted, and for each view. CPU time, so that a busy machine changes little; the limits are
// generous: opening is to take a second.
//
//	node page_speed.mjs MANY.html
import { check, finish } from './lib/page.mjs';
import { boxes, openHtml, ready } from './lib/html.mjs';

const opened = await openHtml();
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

check('everything is there', (await boxes(page))[0].total === 100000 * 8, (await boxes(page))[0].total);
await page.goto('about:blank');
await measure('opening and painting 100,000 stacks', 2000, async () => {
	await page.goto(file);
	await ready(page);
});
const box = (await boxes(page)).find((b) => b.depth === 12);
await measure('zooming in', 200, () => page.mouse.click(box.x, box.top + 8));
await measure('zooming out', 200, () => page.keyboard.press('Escape'));
await measure('the table', 800, () => page.keyboard.press('2'));
await measure('callers and callees', 1600, () => page.keyboard.press('3'));
await measure('inverting', 2000, async () => {
	await page.keyboard.press('1');
	await page.keyboard.press('i');
});
await finish(opened);
