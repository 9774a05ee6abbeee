// SPDX-License-Identifier: BSD-2-Clause
// Checks a flame graph SVG in a real browser:
//
//	node flame.mjs FLAME.svg [SCREENSHOT-FOLDER]
//
// Prints each check; exits 1 when one failed. CHROMIUM names another browser.
import { chromium } from 'playwright-core';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const file = pathToFileURL(resolve(process.argv[2])).href;
const folder = process.argv[3];
let failures = 0;

function check(name, fine, detail = '') {
	console.log(`${fine ? 'ok  ' : 'FAIL'} ${name}${fine ? '' : ` ${detail}`}`);
	failures += fine ? 0 : 1;
}

// Boxes that are shown: name, row, edges.
const boxes = () =>
	[...document.querySelectorAll('.frames > g')].flatMap((row, depth) =>
		[...row.children].filter((g) => !g.hasAttribute('display')).map((g) => {
			const rect = g.querySelector('rect');
			const left = Number(rect.getAttribute('x'));
			return { depth, left, right: left + Number(rect.getAttribute('width')), dim: g.classList.contains('dim'),
				hit: g.classList.contains('hit'), text: g.querySelector('text')?.textContent ?? '' };
		}));

// Each box lies on one of the row before it; both rows go from left to right.
function nested(list) {
	const rows = [];
	for (const b of list)
		(rows[b.depth] ??= []).push(b);
	return rows.slice(1).every((row, above) => {
		let i = 0;
		return row.every((b) => {
			const parents = rows[above];
			while (i < parents.length && parents[i].right < b.right - 0.02)
				i++;
			return i < parents.length && parents[i].left <= b.left + 0.02;
		});
	});
}

function apart(list) {
	const last = new Map();
	return list.every((b) => {
		const fine = (last.get(b.depth) ?? -1) <= b.left + 0.02;
		last.set(b.depth, b.right);
		return fine;
	});
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1300, height: 760 } });
const problems = [];
const requests = [];
page.on('pageerror', (error) => problems.push(String(error)));
page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
page.on('dialog', (dialog) => { problems.push('dialog ' + dialog.message()); dialog.dismiss(); });
page.on('request', (request) => request.url() !== file && requests.push(request.url()));
await page.goto(file);

const shot = async (name) => folder && page.screenshot({ path: `${folder}/${name}.png` });
await shot('first');
const first = await page.evaluate(boxes);
check('boxes are drawn', first.length > 1, first.length);
check('no box leaves its parent', nested(first));
check('no boxes overlap', apart(first));
check('the root fills the width', first[0].left === 10 && first[0].right > 1200, JSON.stringify(first[0]));

// The widest box that does not fill the width.
const target = first.filter((b) => b.depth > 0 && b.right - b.left < 900).sort((a, b) => b.right - b.left - a.right + a.left)[0];
const center = async (b) => page.evaluate(({ depth, left }) => {
	const row = document.querySelectorAll('.frames > g')[depth];
	const g = [...row.children].find((c) => Number(c.querySelector('rect').getAttribute('x')) === left);
	g.scrollIntoView({ block: 'center' });
	const r = g.querySelector('rect').getBoundingClientRect();
	return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
}, b);

let at = await center(target);
await page.mouse.move(at.x, at.y);
const tip = await page.evaluate(() => {
	const t = document.querySelector('.tip');
	return t.hasAttribute('display') ? '' : t.textContent;
});
check('the tooltip tells samples and share', /samples/.test(tip) && /%/.test(tip), tip);
await shot('tooltip');

await page.mouse.click(at.x, at.y);
const zoomed = await page.evaluate(boxes);
const wide = zoomed.find((b) => b.depth === target.depth);
check('a click zooms the box to the full width', wide && wide.left === 10 && Math.abs(wide.right - first[0].right) < 0.1);
check('ancestors are dimmed, others hidden', zoomed.filter((b) => b.depth < target.depth).every((b) => b.dim) &&
	zoomed.filter((b) => b.depth <= target.depth).length === target.depth + 1);
check('the zoomed graph is nested', nested(zoomed) && apart(zoomed));
await shot('zoomed');

await page.keyboard.press('Escape');
check('escape resets the zoom', JSON.stringify(await page.evaluate(boxes)) === JSON.stringify(first));
at = await center(target);
await page.mouse.click(at.x, at.y);
await page.click('.reset');
check('the button resets the zoom', (await page.evaluate(boxes)).length === first.length);

await page.keyboard.press('/');
await page.keyboard.type('.');
await page.keyboard.press('Enter');
const found = () => page.textContent('.found');
check('a match of everything is 100%', /100\.0%/.test(await found()), await found());
await page.keyboard.press('Escape');
check('escape clears the search', (await found()) === '' && (await page.evaluate(boxes)).every((b) => !b.hit));
await page.keyboard.press('Control+f');
await page.keyboard.type('(');
await page.keyboard.press('Enter');
check('a bad expression is told', /regular/.test(await found()), await found());
const word = target.text.replace(/\.\.$/, '').replace(/[^A-Za-z0-9_:]/g, '.');
await page.fill('.tools input', '^' + word);
await page.keyboard.press('Enter');
const share = Number.parseFloat(await found());
const hits = (await page.evaluate(boxes)).filter((b) => b.hit);
check('matches are coloured and counted once', hits.length > 0 && share > 0 && share <= 100, await found());
await shot('search');
await page.keyboard.press('Escape');

await page.setViewportSize({ width: 800, height: 600 });
await page.waitForFunction(() => Number(document.documentElement.getAttribute('width')) <= 800, null, { timeout: 5000 }).catch(() => {});
const narrow = await page.evaluate(boxes);
check('a narrower window lays the graph out anew', narrow[0].right < 800 && nested(narrow) && apart(narrow));
await page.emulateMedia({ colorScheme: 'dark' });
await page.setViewportSize({ width: 1300, height: 760 });
await shot('dark');
check('no script problems', problems.length === 0, problems.join('; '));
check('nothing is loaded', requests.length === 0, requests.join(' '));

// As a picture: no script runs, the boxes of the file must do.
const picture = 'data:image/svg+xml;base64,' + readFileSync(process.argv[2]).toString('base64');
await page.goto('about:blank');
await page.setContent('<img>');
const size = await page.evaluate(async (url) => {
	const image = document.querySelector('img');
	image.src = url;
	await image.decode();
	return image.naturalWidth;
}, picture);
check('it is a picture without its script', size > 0, size);
await shot('picture');
await browser.close();
process.exit(failures ? 1 : 0);
