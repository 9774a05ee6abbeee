// SPDX-License-Identifier: BSD-2-Clause
// A server, an agent, and a program of which a slower release is deployed: the regression is found by clicks
// alone, and by the keyboard alone.
//
//	node site_regression.mjs BUILD [SCREENSHOT-FOLDER]
import { join } from 'node:path';
import { boxes, named } from './lib/html.mjs';
import { check } from './lib/page.mjs';
import { BUILD, closeAll, done, flame, makeFolder, noSampling, openBrowser, PATIENCE_MS, skip, start, startServer, wick } from './lib/site.mjs';

const folder = makeFolder();

const reason = noSampling(folder);
if (reason) {
	skip('a regression is found by clicks', reason);
	await closeAll();
	process.exit(0);
}

const server = await startServer(folder);
await start([wick, 'agent', '--server', server.url, '--window', '10s', '--spool', join(folder, 'spool'), '--overhead', 'off', '--breaker', 'off']);

// A release of the service: the share of its time that it spends in hot_70().
const deploy = (release, percent) => start([join(BUILD, 'tests/workloads/split'), '600000', percent], null,
	{ env: { ...process.env, WICK_SERVICE: 'shop', WICK_RELEASE: release } });

async function stored(release) {
	for (const until = Date.now() + 4 * PATIENCE_MS; Date.now() < until;) {
		const { releases } = await (await fetch(`${server.url}/api/releases?query=shop&from=-1h`)).json();
		if (releases.some((each) => each.name === release && each.samples >= 200))
			return;
		await new Promise((again) => { setTimeout(again, 500); });
	}
	throw new Error(`no samples of release ${release}`);
}

const old = await deploy('1.0', '30');
await stored('1.0');
old.child.kill('SIGTERM');
await old.ended;
await deploy('1.1', '70');
await stored('1.1');

const opened = await openBrowser(server.url);
const { page } = opened;
const shot = async (name) => process.argv[3] && page.screenshot({ path: `${process.argv[3]}/${name}.png` });

// What the table of changes says about hot_70(), if it is one of the first two.
async function worst() {
	await page.waitForSelector('.changes tbody tr:has-text("hot_70")');
	const rows = await page.$$eval('.changes tbody tr', (all) => all.slice(0, 2).map((row) => row.innerText.replace(/\s+/g, ' ')));
	return rows.find((row) => /hot_70/.test(row)) ?? '';
}

await page.goto(server.url);
await page.click('.list a:text-is("shop")');
check('a click on the service shows its flame graph', named(await boxes(await flame(page)), 'hot_70') !== undefined);
await shot('service');
await page.click('button[aria-label="compare before and after release 1.1"]');
const told = await worst();
check('one more on the release names the function, and how sure that is', /\+\d+\.\d pp/.test(told) && /99/.test(told), told);
const graph = await flame(page);
const [before, after] = [named(await boxes(graph, 0), 'hot_70'), named(await boxes(graph, 1), 'hot_70')];
check('the graphs show it in the colour of more', /^m\d$/.test(after.class) && before.class === after.class, JSON.stringify([before, after]));
check('cool_30 is in the colour of less', /^d\d$/.test(named(await boxes(graph, 1), 'cool_30').class));
const link = page.url();
await shot('compare');
await page.goBack();
await flame(page);
check('back leads to the service', /#\/service\/shop/.test(page.url()), page.url());
const other = await opened.context.newPage();
await other.goto(link);
check('the comparison is a link', named(await boxes(await flame(other), 1), 'hot_70').class === after.class);
await other.close();

// The same by the keyboard. Tab leads to everything; the element in focus is told by its name.
const atFocus = () => page.evaluate(() => {
	const at = document.activeElement;
	return at ? (at.getAttribute('aria-label') || at.textContent || '').trim() : '';
});
async function tabTo(name) {
	for (let i = 0; i < 80; i++) {
		await page.keyboard.press('Tab');
		if (await atFocus() === name)
			return true;
	}
	return false;
}

await page.goto('about:blank');
await page.goto(server.url);
await page.waitForSelector('.list a:text-is("shop")');
check('Tab reaches the service', await tabTo('shop'), await atFocus());
await page.keyboard.press('Enter');
await flame(page);
await page.waitForSelector('button[aria-label="compare before and after release 1.1"]');
check('and the release', await tabTo('compare before and after release 1.1'), await atFocus());
await page.keyboard.press('Enter');
check('and the keyboard finds the function', /hot_70/.test(await worst()));
await done(opened);
