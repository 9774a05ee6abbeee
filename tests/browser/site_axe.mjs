// SPDX-License-Identifier: BSD-2-Clause
// Every view of the web page, looked at by axe-core: nothing serious or critical, in light and dark mode, on
// a screen and on a phone. The frame of the flame graph is a document of its own, and is looked at too.
//
//	node site_axe.mjs BUILD
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer } from './lib/site.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const NOW = Math.floor(Date.now() / 1000);

// The policy of the page forbids other scripts; the browser's debugger may run one all the same.
async function findings(frame) {
	await frame.evaluate(AXE);
	const result = await frame.evaluate(() => window.axe.run(document, { iframes: false, resultTypes: ['violations'] }));
	return result.violations.filter((found) => ['serious', 'critical'].includes(found.impact))
		.map((found) => `${found.id}: ${found.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')}`);
}

async function look(page, name, frames = [page.mainFrame()]) {
	for (const frame of frames) {
		const found = await findings(frame);
		check(`${name}: nothing serious`, found.length === 0, found.join('; '));
	}
}

async function fillStore(url) {
	for (let minute = 58; minute > 0; minute -= 2) {
		const release = minute > 30 ? '1.0' : '1.1', from = NOW - 60 * minute;
		for (const host of ['a1', 'a2'])
			await ingest(url, 'web', { host, release }, ['main;serve;parse 300', `main;serve;query ${minute > 30 ? 300 : 600}`], from, from + 60);
	}
}

const folder = makeFolder();
const server = await startServer(folder);
await fillStore(server.url);

const VIEWS = {
	services: ['#/', 'table.list'], nothing: ['#/?search=nosuchservice', '.empty'],
	service: ['#/service/web?where=host%3D%22a1%22', '.flags button', true],
	compare: ['#/compare/web?release_before=1.0&release_after=1.1', '.changes', true],
	ranges: ['#/compare/web?from=-1h&to=-30m&diff_from=-30m&diff_to=now', '.changes', true],
	agents: ['#/agents', '.bursts'], error: ['#/service/web?from=nonsense', '.problem'],
};

const problems = [], elsewhere = [];
for (const [colorScheme, width] of [['light', 1300], ['dark', 1300], ['light', 360], ['dark', 360]]) {
	const opened = await openBrowser(server.url, { width, height: 850 }, { colorScheme });
	for (const [name, [address, wanted, hasFrame]] of Object.entries(VIEWS)) {
		await opened.page.goto('about:blank');
		await opened.page.goto(`${server.url}/${address}`);
		await opened.page.waitForSelector(wanted, { state: 'attached' });
		const frames = [opened.page.mainFrame(), ...(hasFrame ? [await flame(opened.page)] : [])];
		await look(opened.page, `${name}, ${colorScheme}, ${width} px`, frames);
		const wide = await opened.page.evaluate(() => document.documentElement.scrollWidth);
		check(`${name}, ${colorScheme}, ${width} px: nothing is cut off`, wide <= width, `${wide} px`);
	}
	// The view of an error asks for something that the server refuses.
	problems.push(...opened.problems.filter((text) => !/status of 400|violates the following.*frame-ancestors/.test(text)));
	elsewhere.push(...opened.elsewhere.filter((url) => url !== 'about:blank'));
	await opened.browser.close();
}
await done({ problems, elsewhere });
