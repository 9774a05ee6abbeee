// SPDX-License-Identifier: BSD-2-Clause
// The live view: the graph moves on in the same state, can be paused, frozen and compared; a hidden tab asks
// nothing; a lost server comes back. Windows are pushed here, so that it is known what must be shown.
//
//	node site_live.mjs BUILD [SCREENSHOT-FOLDER]
import { boxes, named } from './lib/html.mjs';
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer } from './lib/site.mjs';

const folder = makeFolder(), server = await startServer(folder);
const now = () => Math.floor(Date.now() / 1000), old = now() - 7200;

// A window of the service that has just ended. The view shows ten minutes, so that everything adds up.
const push = (...stacks) => ingest(server.url, 'shop', {}, stacks, now() - 10, now());

await ingest(server.url, 'shop', {}, ['main;parse;word 1000'], old + 10, old + 20);
await push('main;parse;skip 10', 'main;parse;word 30', 'main;write 60');
const opened = await openBrowser(server.url);
const { page } = opened;
const streams = []; // requests for the stream, with whether they have ended
page.on('request', (request) => /\/api\/live/.test(request.url()) && request.resourceType() === 'eventsource' && streams.push(request));
const ended = new Set();
page.on('requestfailed', (request) => ended.add(request));
page.on('requestfinished', (request) => ended.add(request));
const shot = async (name) => process.argv[3] && page.screenshot({ path: `${process.argv[3]}/${name}.png` });
const told = () => page.innerText('.livestate');

// Waits until a box of the graph has a total in samples.
const shows = async (name, samples, which = 0) => {
	const frame = await flame(page);
	await frame.waitForFunction(([wanted, total, i]) => window.wickPage.boxes(i).some((box) => box.name === wanted && Math.round(box.total / 1e7) === total), [name, samples, which]);
	return frame;
};

await page.goto(`${server.url}/#/service/shop`);
await page.click('a.button:text-is("Live")');
let frame = await shows('parse', 40);
check('a click shows the last minute of the service', /#\/live\/shop/.test(page.url()) && /data until \d/.test(await told()), await told());
await page.selectOption('.tools select', '600');
await page.waitForURL(/window=600/);
frame = await shows('parse', 40);
check('the window can be ten minutes', await page.inputValue('.tools select') === '600');
await frame.evaluate(() => { window.mark = 1; });

// Steps
const parse = named(await boxes(frame), 'parse'), place = await (await page.$('.flame iframe')).boundingBox();
await page.mouse.click(place.x + parse.x, place.y + parse.top + 8);
await frame.waitForFunction(() => window.wickPage.boxes(0).some((box) => box.name === 'main' && box.dim));
await push('main;aaa 50', 'main;parse;word 70');
await shows('parse', 110);
const moved = await boxes(frame);
check('a step is shown in the same document', await frame.evaluate(() => window.mark === 1));
check('and in the same state', named(moved, 'main').dim && !named(moved, 'parse').dim && /flame=z/.test(page.url()), page.url());
check('boxes stay in their rows', named(moved, 'parse').top === parse.top);
await shot('live');

// Pause
await page.click('button:text-is("Pause")');
const last = await told();
await push('main;parse;word 90');
await page.waitForFunction((before) => document.querySelector('.livestate').innerText.match(/until ([\d:]+)/)[1] !== before.match(/until ([\d:]+)/)[1], last);
check('while it is paused, the graph stays and the end of the data moves on', named(await boxes(frame), 'parse').total === 110e7 && /paused/.test(await told()), await told());
await page.click('button:text-is("Resume")');
await shows('parse', 200);
check('then it goes on', !/paused/.test(await told()));

// Freeze and compare
await frame.click('#reset');
await page.click('button:text-is("Freeze")');
await page.waitForSelector('.chip');
const frozen = /moment=(\d+)-(\d+)/.exec(page.url());
check('freezing remembers the window', frozen && frozen[2] - frozen[1] === 600, page.url());
await push('main;slow 800');
await shows('slow', 800);
await page.click('button:text-is("Compare with now")');
await shows('slow', 800, 1);
check('one click compares it with now', /compare=1/.test(page.url()), page.url());
await page.click('button:text-is("Stop comparing")');
await (await page.waitForSelector('button:text-is("Compare with now")')).isVisible();
await shows('slow', 800);
await page.fill('.moment input', String(old));
await page.click('button:text-is("Compare with this time")');
const isOld = async () => {
	const graph = await shows('parse', 1000);
	return /^m\d$/.test(named(await boxes(graph, 1), 'slow').class) && !named(await boxes(graph, 0), 'slow');
};
check('any other moment can be compared', await isOld() && new RegExp(`moment=${old}-${old + 600}`).test(page.url()), page.url());
const compared = await flame(page);
await compared.evaluate(() => { window.mark = 2; });
await push('main;slow 100');
await shows('slow', 900, 1);
check('the comparison moves on', await compared.evaluate(() => window.mark === 2));
await shot('live-compare');
const link = page.url();
await page.goto('about:blank');
await page.goto(link);
check('it is a link', await isOld());
await page.click('button:text-is("Stop comparing")');
await shows('slow', 900);

// A hidden tab
const hide = (isHidden) => page.evaluate((hidden) => {
	Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
	document.dispatchEvent(new Event('visibilitychange'));
}, isHidden);
const until = async (what) => {
	while (!what())
		await new Promise((again) => { setTimeout(again, 50); });
};
const count = streams.length;
await hide(true);
await until(() => streams.every((request) => ended.has(request)));
await push('main;slow 50');
check('a hidden tab has no stream', streams.length === count);
await hide(false);
await shows('slow', 950);
check('when it is seen again, it has one', streams.length === count + 1 && !ended.has(streams.at(-1)));

// A server that is gone for a while
const port = new URL(server.url).port;
server.child.kill('SIGTERM');
await server.ended;
await page.waitForFunction(() => /trying again/.test(document.querySelector('.livestate').innerText));
check('a lost server is told', named(await boxes(await flame(page)), 'slow') !== undefined, await told());
await shot('live-lost');
await startServer(folder, '--listen', `127.0.0.1:${port}`);
await push('main;slow 25');
await shows('slow', 975);
check('and found again', !/trying again/.test(await told()), await told());
opened.problems = opened.problems.filter((text) => !/ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|CONNECTION_RESET)/.test(text)); // of the lost server
await done(opened);
