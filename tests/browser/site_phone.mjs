// SPDX-License-Identifier: BSD-2-Clause
// The web page on a phone: everything fits the width, and fingers reach it.
//
//	node site_phone.mjs BUILD [SCREENSHOT-FOLDER]
import { boxes, named } from './lib/html.mjs';
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer } from './lib/site.mjs';

const server = await startServer(makeFolder());
const now = Math.floor(Date.now() / 1000), long = 'a_service_with_a_name_that_is_longer_than_the_screen_of_any_phone_is_wide';
for (let i = 0; i < 6; i++) {
	const release = i < 3 ? '1.0' : '1.1', share = i < 3 ? 100 : 300;
	await ingest(server.url, 'shop', { release, host: 'a1' }, [`main;parse ${share}`, 'main;write 100'], now - 1200 + 180 * i, now - 1190 + 180 * i);
	await ingest(server.url, long, { release, host: 'a1' }, ['main;parse 10'], now - 1200 + 180 * i, now - 1190 + 180 * i);
}
const opened = await openBrowser(server.url, { width: 360, height: 740 }, { isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
const { page } = opened;

// What sticks out to the right; lists may scroll in a box of their own.
const sticksOut = () => page.evaluate(() => {
	const wide = document.documentElement.clientWidth;
	const scrolls = (each) => each && each !== document.body && (/auto|scroll|hidden|clip/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
	const out = [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > wide + 1 && each.getBoundingClientRect().width > 1 && !scrolls(each.parentElement));
	return document.documentElement.scrollWidth > wide ? ['the document'] : out.map((each) => each.outerHTML.slice(0, 80));
});

// Buttons and links that are too small for fingers, except within texts.
const tooSmall = () => page.$$eval('button, select, a.button, summary, input', (all) => all.filter((each) => {
	const box = each.getBoundingClientRect();
	return each.checkVisibility() && box.width > 0 && Math.min(box.width, box.height) < 24;
}).map((each) => each.outerHTML.slice(0, 80)));

async function fits(name) {
	const out = await sticksOut(), small = await tooSmall();
	check(`${name} fits a phone`, out.length === 0, out.join(' '));
	check(`${name}: fingers reach everything`, small.length === 0, small.join(' '));
	if (process.argv[3])
		await page.screenshot({ path: `${process.argv[3]}/phone-${name}.png` });
}

await page.goto(server.url);
await page.waitForSelector('.list a');
await fits('services');
await page.tap('.list a:text-is("shop")');
const graph = await flame(page);
await fits('service');
check('the graph fits too', await graph.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
const parse = named(await boxes(graph), 'parse'), place = await (await page.$('.flame iframe')).boundingBox();
await page.touchscreen.tap(place.x + parse.x, place.y + parse.top + 8);
await graph.waitForFunction(() => window.wickPage.boxes(0).some((box) => box.name === 'main' && box.dim));
check('a tap on a box zooms in', /flame=z/.test(page.url()), page.url());
await page.tap('button[aria-label="compare before and after release 1.1"]');
await page.waitForSelector('.changes tbody tr');
check('a tap on a release compares', /parse/.test(await page.innerText('.changes tbody tr')), await page.innerText('.changes'));
await flame(page);
await fits('compare');
await page.goto(`${server.url}/#/agents`);
await page.waitForSelector('h1');
await fits('agents');
await done(opened);
