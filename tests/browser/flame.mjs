// SPDX-License-Identifier: BSD-2-Clause
// Checks a flame graph SVG of any program in a real browser:
//
//	node flame.mjs FLAME.svg [SCREENSHOT-FOLDER]
//
// Prints each check; exits 1 when one failed.
import { readFileSync } from 'node:fs';
import { boxes, check, clickBox, finish, middle, open, sound, tooltip, width } from './lib/page.mjs';

const opened = await open();
const { page, shot } = opened;
await shot('first');
const first = await page.evaluate(boxes);
check('boxes are drawn', first.length > 1, first.length);
check('no box leaves its parent or overlaps another', sound(first));
check('the root fills the width', first[0].left === 10 && first[0].right > 1200, JSON.stringify(first[0]));

// The widest box that does not fill the width.
const target = first.filter((b) => b.depth > 0 && width(b) < 900).sort((a, b) => width(b) - width(a))[0];
const at = await middle(page, target.name);
await page.mouse.move(at.x, at.y);
const tip = await tooltip(page);
check('the tooltip tells samples and share', /samples/.test(tip) && /%/.test(tip), tip);
await shot('tooltip');

await page.mouse.click(at.x, at.y);
const zoomed = await page.evaluate(boxes);
const wide = zoomed.find((b) => b.depth === target.depth);
check('a click zooms the box to the full width', wide && wide.left === 10 && Math.abs(wide.right - first[0].right) < 0.1);
check('ancestors are dimmed, others hidden', zoomed.filter((b) => b.depth < target.depth).every((b) => b.dim) &&
	zoomed.filter((b) => b.depth <= target.depth).length === target.depth + 1);
check('the zoomed graph is nested', sound(zoomed));
await shot('zoomed');

await page.keyboard.press('Escape');
check('escape resets the zoom', JSON.stringify(await page.evaluate(boxes)) === JSON.stringify(first));
await clickBox(page, target.name);
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
await page.fill('.tools input', '^' + target.name.replace(/[^A-Za-z0-9_:]/g, '.'));
await page.keyboard.press('Enter');
const share = Number.parseFloat(await found());
const hits = (await page.evaluate(boxes)).filter((b) => b.hit);
check('matches are coloured and counted once', hits.length > 0 && share > 0 && share <= 100, await found());
await shot('search');
await page.keyboard.press('Escape');

await page.setViewportSize({ width: 800, height: 600 });
await page.waitForFunction(() => Number(document.documentElement.getAttribute('width')) <= 800, null, { timeout: 5000 }).catch(() => {});
const narrow = await page.evaluate(boxes);
check('a narrower window lays the graph out anew', narrow[0].right < 800 && sound(narrow));
await shot('narrow');
await page.emulateMedia({ colorScheme: 'dark' });
await page.setViewportSize({ width: 1300, height: 760 });
await shot('dark');

// As a picture: no script runs, the boxes of the file must do.
const picture = 'data:image/svg+xml;base64,' + readFileSync(process.argv[2]).toString('base64');
const second = await opened.browser.newPage({ viewport: { width: 1300, height: 760 } });
await second.setContent('<img>');
const size = await second.evaluate(async (url) => {
	const image = document.querySelector('img');
	image.src = url;
	await image.decode();
	return image.naturalWidth;
}, picture);
check('it is a picture without its script', size > 0, size);
if (process.argv[3])
	await second.screenshot({ path: `${process.argv[3]}/picture.png` });

// As an object in a page, it is as it is alone.
await second.goto(opened.file.replace(/[^/]*$/, ''));
await second.setContent('<object type="image/svg+xml" width="900" height="500"></object>');
await second.evaluate((url) => { document.querySelector('object').data = url; }, opened.file);
await second.waitForTimeout(500);
const inside = second.frames().find((frame) => frame !== second.mainFrame());
check('it works inside an object', inside !== undefined && (await inside.evaluate(boxes)).length > 1);
await finish(opened);
