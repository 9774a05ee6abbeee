// SPDX-License-Identifier: BSD-2-Clause
// Checks a differential flame graph of before.folded and after.folded in a real browser:
//
//	node diff.mjs DIFF.svg [SCREENSHOT-FOLDER]
//
// Prints each check; exits 1 when one failed. CHROMIUM names another browser.
import { chromium } from 'playwright-core';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const file = pathToFileURL(resolve(process.argv[2])).href;
const folder = process.argv[3];
let failures = 0;

function check(name, fine, detail = '') {
	console.log(`${fine ? 'ok  ' : 'FAIL'} ${name}${fine ? '' : ` ${detail}`}`);
	failures += fine ? 0 : 1;
}

// Boxes that are shown: row, edges, label, class of the colour and of the box.
const boxes = () =>
	[...document.querySelectorAll('.frames > g')].flatMap((row, depth) =>
		[...row.children].filter((g) => !g.hasAttribute('display')).map((g) => {
			const rect = g.querySelector('rect');
			const left = Number(rect.getAttribute('x'));
			return { depth, left, right: left + Number(rect.getAttribute('width')), color: rect.getAttribute('class'),
				mark: ['new', 'gone'].find((c) => g.classList.contains(c)) ?? '', text: g.querySelector('text')?.textContent ?? '' };
		}));

function sound(list) {
	const rows = [];
	for (const b of list)
		(rows[b.depth] ??= []).push(b);
	return rows.every((row, depth) => row.every((b, i) =>
		(i === 0 || row[i - 1].right <= b.left + 0.02) &&
		(depth === 0 || rows[depth - 1].some((p) => p.left <= b.left + 0.02 && p.right >= b.right - 0.02))));
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1300, height: 500 } });
const problems = [];
const requests = [];
page.on('pageerror', (error) => problems.push(String(error)));
page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
page.on('dialog', (dialog) => { problems.push('dialog ' + dialog.message()); dialog.dismiss(); });
page.on('request', (request) => request.url() !== file && requests.push(request.url()));
await page.goto(file);
const shot = async (name) => folder && page.screenshot({ path: `${folder}/${name}.png` });
const named = (list, name) => list.find((b) => b.text.startsWith(name));
const width = (b) => b.right - b.left;

await shot('diff-after');
const after = await page.evaluate(boxes);
check('boxes lie on their parents, apart from each other', sound(after));
check('what is more says so in colour and words', /^m/.test(named(after, 'parse').color) && /\+\d+\.\d pp$/.test(named(after, 'parse').text),
	JSON.stringify(named(after, 'parse')));
check('what is less says so in colour and words', /^d/.test(named(after, 'reply').color) && /-\d+\.\d pp$/.test(named(after, 'reply').text),
	JSON.stringify(named(after, 'reply')));
const isNew = after.filter((b) => b.mark === 'new');
check('new boxes are marked, gone ones not there', isNew.length === 2 && isNew.every((b) => b.text.includes('+')) && !named(after, 'old_'),
	JSON.stringify(isNew));

await page.click('.widths');
await shot('diff-before');
const before = await page.evaluate(boxes);
check('the button shows the widths of before', /before/.test(await page.textContent('.widths')) && sound(before) &&
	Math.abs(width(before[0]) - width(after[0])) < 0.1 && width(named(before, 'parse')) < width(named(after, 'parse')));
const gone = before.filter((b) => b.mark === 'gone');
check('gone boxes are marked, new ones not there', gone.length === 3 && gone.every((b) => b.text.includes('-')) && !named(before, 'new_'),
	JSON.stringify(gone));

await page.click('.scale');
await shot('diff-before-amounts');
const smaller = await page.evaluate(boxes);
check('amounts have one scale: the smaller side fills less', sound(smaller) && width(smaller[0]) < 0.9 * width(before[0]));
check('amounts are told in their unit', named(smaller, 'parse').text === 'parse +2,400', named(smaller, 'parse').text);
await page.keyboard.press('b');
check('the key b shows after again', Math.abs(width((await page.evaluate(boxes))[0]) - width(after[0])) < 0.1);
await page.keyboard.press('a');
check('the key a shows shares again', JSON.stringify(await page.evaluate(boxes)) === JSON.stringify(after));

const center = (name) => page.evaluate((wanted) => {
	const g = [...document.querySelectorAll('.frames g g')].find((c) => c.flameFrame.name === wanted);
	const r = g.querySelector('rect').getBoundingClientRect();
	return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
}, name);
let at = await center('parse');
await page.mouse.move(at.x, at.y);
const tip = await page.evaluate(() => document.querySelector('.tip').textContent);
check('the tooltip tells both shares and both amounts', /share \d+\.\d% → \d+\.\d%: \+/.test(tip) && /samples 3,000 → 5,400: \+2,400, \+80\.0%/.test(tip), tip);
await shot('diff-tooltip');

at = await center('new_check');
await page.mouse.click(at.x, at.y);
check('a new box can be zoomed into', Math.abs(width((await page.evaluate(boxes)).find((b) => b.mark === 'new')) - width(after[0])) < 0.1);
await page.keyboard.press('b');
check('where it is not there, all is shown', (await page.evaluate(boxes)).length === before.length && await page.isDisabled('.reset'));
await page.keyboard.press('b');

await page.keyboard.press('/');
await page.keyboard.type('parse');
await page.keyboard.press('Enter');
const share = async () => Number.parseFloat(await page.textContent('.found'));
const shareAfter = await share();
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press('b');
check('matches are counted on the side that is shown', (await share()) > 0 && (await share()) < shareAfter, await share());
await page.keyboard.press('b');

const names = await page.evaluate(() => [...document.querySelectorAll('.frames g g')].map((g) => g.flameFrame.name));
check('hostile names stay names', names.includes('</script><script>alert(1)</script>') && names.includes('f|g data-s="x"') &&
	names.includes('trailing 7') && names.every((n) => !/[\u0000-\u001f\u202e]/.test(n)), JSON.stringify(names));
check('the changes of hostile names are their own', await page.evaluate(() => [...document.querySelectorAll('.frames g g')].every((g) =>
	g.flameFrame.changes.length === 2 && g.flameFrame.colors.every((c) => /^([md][1-4]|same)$/.test(c)))));

// The least contrast between the text of boxes and the colours of changes (WCAG asks for 4.5).
const contrast = () => page.evaluate(() => {
	const light = (color) => {
		const [r, g, b] = color.match(/[\d.]+/g).map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const svg = document.documentElement;
	const rect = svg.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'rect'));
	const text = light(getComputedStyle(document.querySelector('.frames text')).fill);
	let least = Infinity;
	for (const cvd of [false, true]) {
		svg.classList.toggle('cvd', cvd);
		for (const name of ['same', 'm1', 'm2', 'm3', 'm4', 'd1', 'd2', 'd3', 'd4']) {
			rect.setAttribute('class', name);
			const fill = light(getComputedStyle(rect).fill);
			least = Math.min(least, (Math.max(fill, text) + 0.05) / (Math.min(fill, text) + 0.05));
		}
	}
	svg.classList.remove('cvd');
	rect.remove();
	return least;
});
check('text can be read on all colours', (await contrast()) >= 4.5, await contrast());
await page.emulateMedia({ colorScheme: 'dark' });
await shot('diff-dark');
check('in the dark too', (await contrast()) >= 4.5, await contrast());
check('no script problems', problems.length === 0, problems.join('; '));
check('nothing is loaded', requests.length === 0, requests.join(' '));
await browser.close();
process.exit(failures ? 1 : 0);
