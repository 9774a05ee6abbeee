// SPDX-License-Identifier: BSD-2-Clause
// What the programs that check graphs in a browser share: a page with the file, its
// boxes, and checks that are counted. CHROMIUM names another browser.
import { chromium } from 'playwright-core';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

let failures = 0;

export function check(name, fine, detail = '') {
	console.log(`${fine ? 'ok  ' : 'FAIL'} ${name}${fine ? '' : ` ${detail}`}`);
	failures += fine ? 0 : 1;
}

// Opens a file. problems: what went wrong in the page; requests: what it loaded besides itself.
export async function openFile(path, height = 760) {
	const file = pathToFileURL(resolve(path)).href;
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
	const page = await browser.newPage({ viewport: { width: 1300, height }, acceptDownloads: true });
	const problems = [];
	const requests = [];
	page.on('pageerror', (error) => problems.push(String(error)));
	page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
	page.on('dialog', (dialog) => { problems.push('dialog ' + dialog.message()); dialog.dismiss(); });
	page.on('request', (request) => !/^blob:/.test(request.url()) && request.url().split('#')[0] !== file && requests.push(request.url()));
	await page.goto(file);
	const folder = process.argv[3];
	const shot = async (name) => folder && page.screenshot({ path: `${folder}/${name}.png` });
	return { file, browser, page, problems, requests, shot };
}

// Opens the file that the program was given.
export const open = (height) => openFile(process.argv[2], height);

export async function finish({ browser, problems, requests }) {
	check('no script problems', problems.length === 0, problems.join('; '));
	check('nothing is loaded', requests.length === 0, requests.join(' '));
	await browser.close();
	process.exit(failures ? 1 : 0);
}

// Boxes that are shown, row by row from the root: edges, label, classes. Runs in the page.
export const boxes = () =>
	[...document.querySelectorAll('.frames:not([display]) > g:not([data-parked])')].flatMap((row, depth) =>
		[...row.children].filter((rect) => rect.flameFrame && !rect.hasAttribute('display')).map((rect) => {
			const left = Number(rect.getAttribute('x'));
			const label = rect.nextElementSibling;
			const has = (mark) => rect.classList.contains(mark);
			return { depth, left, right: left + Number(rect.getAttribute('width')),
				color: [...rect.classList].find((c) => !['in', 'thin', 'new', 'gone', 'hit', 'dim', 'over', 'focus'].includes(c)),
				top: Number(/ (-?\d+)\)/.exec(row.getAttribute('transform'))[1]), dim: has('dim'),
				hit: has('hit'), focus: has('focus'), name: rect.flameFrame.name,
				mark: ['new', 'gone'].find(has) ?? '', text: label?.localName === 'text' ? label.textContent : '' };
		}));

export const width = (box) => box.right - box.left;

// Each box lies on one of the row before it, and beside the others of its row.
export function sound(list) {
	const rows = [];
	for (const box of list)
		(rows[box.depth] ??= []).push(box);
	return rows.every((row, depth) => {
		let i = 0;
		return row.every((box, at) => {
			const below = depth > 0 ? rows[depth - 1] : [{ left: -Infinity, right: Infinity }];
			while (i < below.length && below[i].right < box.right - 0.02)
				i++;
			return i < below.length && below[i].left <= box.left + 0.02 && (at === 0 || row[at - 1].right <= box.left + 0.02);
		});
	});
}

// The middle of the box of a name, scrolled into view.
export const middle = (page, name) => page.evaluate((wanted) => {
	const rect = [...document.querySelectorAll('.frames:not([display]) g:not([data-parked]) > rect:not([display])')].find((c) => c.flameFrame.name === wanted);
	rect.scrollIntoView({ block: 'center' });
	const r = rect.getBoundingClientRect();
	return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
}, name);

export const tooltip = (page) => page.evaluate(() => {
	const tip = document.querySelector('.tip');
	return tip.hasAttribute('display') ? '' : [...tip.querySelectorAll('text')].map((t) => t.textContent).join('\n');
});

export async function clickBox(page, name) {
	const at = await middle(page, name);
	await page.mouse.click(at.x, at.y);
}
