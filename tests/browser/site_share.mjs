// SPDX-License-Identifier: BSD-2-Clause
// What the page gives away: links that last, files of each format that wick and others read, an image for chats.
//
//	node site_share.mjs BUILD
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer, wick } from './lib/site.mjs';

const folder = makeFolder(), server = await startServer(folder), now = Math.floor(Date.now() / 1000);
await ingest(server.url, 'shop', { release: '1.0' }, ['main;parse 600', 'main;write 400'], now - 1200, now - 1190);
await ingest(server.url, 'shop', { release: '1.1' }, ['main;parse 300', 'main;write 700'], now - 30, now - 20);
const opened = await openBrowser(server.url);
const { page, context } = opened;

async function download(text) {
	const waiting = page.waitForEvent('download');
	await page.click(`.share a:text-is("${text}")`);
	const file = await waiting, path = join(folder, file.suggestedFilename());
	await file.saveAs(path);
	return path;
}

// The size of a PNG: the first chunk has it.
const sizeOf = (png) => (png.subarray(1, 4).toString() === 'PNG' ? [png.readUInt32BE(16), png.readUInt32BE(20)] : []);
const valueOf = (path) => JSON.parse(execFileSync(wick, ['report', path, '--format', 'json'], { encoding: 'utf8' })).rows.find((row) => row.name === 'parse').self;

await page.goto(`${server.url}/#/service/shop`);
await flame(page);
await page.click('summary:has-text("Share")');
const svg = readFileSync(await download('SVG'), 'utf8'), png = readFileSync(await download('PNG')), html = readFileSync(await download('HTML'), 'utf8');
check('SVG, PNG and HTML are files of these kinds', svg.startsWith('<?xml') && svg.includes('parse') && sizeOf(png)[0] === 2400 && html.startsWith('<!DOCTYPE html>'), String(sizeOf(png)));
const pprof = await download('pprof'), recording = await download('.wick');
check('pprof and .wick have the same numbers', JSON.stringify(valueOf(pprof)) === JSON.stringify(valueOf(recording)) && JSON.stringify(valueOf(recording)).includes('9000000000'), JSON.stringify([valueOf(pprof), valueOf(recording)]));

await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
await page.click('.share button:text-is("Image for a chat")');
await page.waitForFunction(() => /Image (copied|saved)/.test(document.querySelector('.told').textContent));
const copied = Buffer.from(await page.evaluate(async () => {
	const [item] = await navigator.clipboard.read();
	return [...new Uint8Array(await (await item.getType('image/png')).arrayBuffer())];
}));
check('the image for a chat is in the clipboard', sizeOf(copied)[0] === 1200 && sizeOf(copied)[1] <= 630, `${sizeOf(copied)} ${await page.textContent('.told')}`);
await page.click('.share button:text-is("Copy link")');
await page.waitForFunction(() => document.querySelector('.told').textContent === 'Link copied.');
const link = await page.evaluate(() => navigator.clipboard.readText());
await context.clearPermissions();
const other = await context.newPage();
await other.goto(link);
const parse = (await (await flame(other)).evaluate(() => window.wickPage.boxes(0))).find((box) => box.name === 'parse');
check('the link has fixed times and shows the same', /from=\d{10}&to=\d{10}/.test(link) && parse.total === 9e9, link);
await other.close();

await page.goto(`${server.url}/#/compare/shop?release_before=1.0&release_after=1.1`);
const graph = await flame(page);
await page.click('summary:has-text("Share")');
check('a comparison as CSV names what changed', /parse/.test(readFileSync(await download('CSV'), 'utf8')));
check('and as SVG', /parse/.test(readFileSync(await download('SVG'), 'utf8')));
await page.keyboard.press('Escape');

// One red and blue graph
await graph.selectOption('[aria-label^="which graphs"]', { label: 'one graph: after' });
await page.waitForFunction(() => decodeURIComponent(location.hash).includes('b=1'));
const shown = () => graph.evaluate(() => [...document.querySelectorAll('#graph .side')].map((side) => side.offsetWidth > 0));
check('the comparison can be one graph, in red and blue', (await shown()).join() === 'false,true' && await graph.evaluate(() => window.wickPage.boxes(1).some((box) => box.name === 'write' && /^m/.test(box.class))));
const one = page.url();
await page.goto('about:blank');
await page.goto(one);
check('which a link shows too', (await (await flame(page)).evaluate(() => [...document.querySelectorAll('#graph .side')].map((side) => side.offsetWidth > 0))).join() === 'false,true');
await done(opened);
