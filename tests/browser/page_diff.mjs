// SPDX-License-Identifier: BSD-2-Clause
// Checks the page of a comparison, before.folded and after.folded, and that its changes are those
// of the SVG (diff.svg).
//
//	node page_diff.mjs DIFF.html [SCREENSHOT-FOLDER]
import { check, finish, sound } from './lib/page.mjs';
import { boxes, clickBox, halves, named, openHtml, outline, point, ready, rows, search, tip } from './lib/html.mjs';

const opened = await openHtml();
const { page, shot, file, browser } = opened;
const wide = (box) => box.right - box.left;
const [before, after] = [await boxes(page, 0), await boxes(page, 1)];
await shot('page-diff');
check('before and after stand side by side', sound(before) && sound(after) && before[0].total === 6220 && after[0].total === 9140 && before[0].x < after[0].x);
check('each has what is there', named(before, 'old_check') && !named(before, 'new_check') && named(after, 'new_check') && !named(after, 'old_check'));

const narrow = [...before, ...after].filter((b) => wide(b) >= 32 && wide(b) < 55 && /^[md]/.test(b.class));
check('narrow boxes show at least the sign of their change', narrow.length > 0 && narrow.every((b) => /^[+-]/.test(b.label)), JSON.stringify(narrow.map((b) => b.label)));

const other = await browser.newPage({ viewport: { width: 1300, height: 700 } });
await other.goto(file.replace('.html', '.svg'));
const drawn = await other.evaluate(() => [...document.querySelectorAll('.frames:not([display]) rect')].map((rect) => [rect.flameFrame.name, rect.flameFrame.colors[0], ...rect.flameFrame.about].join('|')));
const shown = [...new Set([...before, ...after].map((b) => [b.name, b.class, ...b.words.slice(1)].join('|')))];
check('changes are those of the SVG, in words and colours', drawn.sort().join('\n') === shown.sort().join('\n'), `${drawn.join('\n')}\n\n${shown.join('\n')}`);

await point(page, 'parse', 1);
check('a box tells both', /share 48\.2% → 59\.1%: \+10\.8 pp/.test(await tip(page)) && /samples 3,000 → 5,400: \+2,400/.test(await tip(page)), await tip(page));
await clickBox(page, 'parse', 0);
const [left, right] = [await boxes(page, 0), await boxes(page, 1)];
check('a zoom is one of both', Math.abs(wide(named(left, 'parse')) - wide(before[0])) < 0.01 && Math.abs(wide(named(right, 'parse')) - wide(after[0])) < 0.01);
await page.keyboard.press('Escape');
await search(page, 'lex|send');
check('and so is a search', (await boxes(page, 0)).filter((b) => b.hit).length === 2 && (await boxes(page, 1)).filter((b) => b.hit).length === 2 &&
	(await page.textContent('#found')) === '46.6% → 49.2% matched, 2 boxes', await page.textContent('#found'));
await page.keyboard.press('Escape');
await page.keyboard.press('a');
check('amounts have one scale', wide((await boxes(page, 0))[0]) < 0.7 * wide((await boxes(page, 1))[0]) && sound(await boxes(page, 0)));
await page.keyboard.press('a');
await clickBox(page, 'new_check', 1);
check('what is not there before leaves that side empty', (await boxes(page, 0)).length === 0 && (await boxes(page, 1)).length > 2);
await page.keyboard.press('Escape');

await page.keyboard.press('r');
check('About tells of both recordings', /samples6,220 → 9,140lost0unreadable0/.test(await page.textContent('#session')), await page.textContent('#session'));
await shot('page-diff-about');
await page.keyboard.press('Escape');

await page.keyboard.press('2');
const table = await rows(page);
await shot('page-diff-table');
check('the table has both sides and the change, the largest first', table.find((r) => r.includes('parse')).slice(0, 7).join() === '+10.8 pp,3,000,48.2%,5,400,59.1%,1,000,1,800' &&
	table[0][0] === '-11.3 pp', table[0].join());
await page.click('#rows tr:nth-child(5)');
const [callers, callees] = await halves(page);
check('callers and callees too', outline(callers).startsWith('parse') && outline(callees) === 'parse 3000(lex 2000)', outline(callees));
await other.goto(await page.evaluate(() => location.href));
await ready(other);
check('a link shows the same', outline((await halves(other))[1]) === outline(callees));
await page.goto(file);
await ready(page);
await page.keyboard.press('o');
const [hiddenOne, shownOne] = await page.$$eval('#graph .side', (sides) => sides.map((side) => side.offsetWidth));
const single = await boxes(page, 1);
check('one key shows one graph, as wide as both', hiddenOne === 0 && shownOne > 1200 && sound(single) && wide(single[0]) > 1.9 * wide(after[0]) && named(single, 'parse').class === named(after, 'parse').class);
await search(page, 'old_check');
await page.keyboard.press('n');
check('what is only in the other one is no match here', /0 boxes|no match/.test(await page.textContent('#found')) && named(await boxes(page, 1), 'parse') !== undefined, await page.textContent('#found'));
await page.keyboard.press('Escape');
await shot('page-diff-one');
await page.keyboard.press('o');
check('and another one the graph before', (await page.$$eval('#graph .side', (sides) => sides.map((side) => side.offsetWidth > 0))).join() === 'true,false' && /b=2/.test(page.url()), page.url());
await page.keyboard.press('o');
await page.emulateMedia({ colorScheme: 'dark' });
await shot('page-diff-dark');
await page.setViewportSize({ width: 360, height: 640 });
await shot('page-diff-narrow');
const tabs = await page.evaluate(() => [...document.querySelectorAll('.tab, #switches > *')].map((e) => [e.textContent, e.getBoundingClientRect(), e.scrollHeight > e.clientHeight + 2]).map(([t, r, o]) => [t, r.left, r.top, r.right, r.bottom, o]));
check('in a narrow window tabs are whole and beside each other', tabs.every((a, i) => (a[5] === false || !a[0].length) && a[3] <= 361 && tabs.every((b, k) => k <= i || a[3] <= b[1] + 1 || b[3] <= a[1] + 1 || a[4] <= b[2] + 1 || b[4] <= a[2] + 1)), JSON.stringify(tabs));
await finish(opened);
