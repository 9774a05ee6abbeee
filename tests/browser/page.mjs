// SPDX-License-Identifier: BSD-2-Clause
// Checks the page of page.folded in a real browser: the graph, the table, callers and callees,
// links; that it shows what the SVG shows (page.svg); and hostile names (hostile.html).
//
//	node page.mjs PAGE.html [SCREENSHOT-FOLDER]
import { readFileSync } from 'node:fs';
import { check, finish, sound } from './lib/page.mjs';
import { boxes, clickBox, halves, named, openHtml, outline, point, ready, rows, search, tip } from './lib/html.mjs';

const opened = await openHtml();
const { page, shot, file, browser } = opened;
const hash = () => page.evaluate(() => location.hash);
const found = () => page.textContent('#found');
const wide = (box) => box.right - box.left;

// The graph

const first = await boxes(page);
await shot('page');
check('boxes lie on their parents, apart from each other', sound(first) && first.length === 14, first.length);
check('widths are what stacks cost', first.every((b) => Math.abs(wide(b) - wide(first[0]) * b.total / 110) < 0.01) && first[0].total === 110);
check('siblings are in alphabetical order', outline(first) === 'all 110(app 104(idle 15, main 89(parse 54(lex 30, parse 24(lex 20)), reply 35(lex 10, send 25))), other 6(run 6(lex 6)))',
	outline(first));
await point(page, 'parse');
check('a box tells its numbers', (await tip(page)) === 'parse\n54 samples · 49.1%', await tip(page));
await page.mouse.move(5, 300);
check('and nothing else does', (await tip(page)) === '');

await clickBox(page, 'reply');
const zoomed = await boxes(page);
check('a click zooms', Math.abs(wide(named(zoomed, 'reply')) - wide(first[0])) < 0.01 && named(zoomed, 'main').dim && !named(zoomed, 'idle'));
check('the way there is told', (await page.$$eval('#trail button', (all) => all.map((b) => b.textContent).join('/'))) === 'all/app/main/reply');
check('the address has it', (await hash()) === '#z=app/main/reply', await hash());
await page.goBack();
check('going back zooms out', JSON.stringify(await boxes(page)) === JSON.stringify(first));
await page.goForward();
await page.keyboard.press('Backspace');
check('Backspace zooms to the caller', (await hash()) === '#z=app/main', await hash());
await page.keyboard.press('Escape');
check('Escape shows everything', (await boxes(page)).length === first.length);

await search(page, '^lex$');
check('a search tells the share of what it found', (await found()) === '60.0% matched, 4 boxes', await found());
check('and marks it', (await boxes(page)).filter((b) => b.hit).every((b) => b.name === 'lex'));
await page.keyboard.press('n'); // Enter has left the field
check('n goes to the next match', (await found()).endsWith('1 of 4') && (await boxes(page)).filter((b) => b.focus).length === 1, await found());
await page.keyboard.press('/');
await page.keyboard.type('(');
await page.keyboard.press('Enter');
check('a bad expression is told', /invalid regular/.test(await found()));
await page.keyboard.press('Escape');

// Keys

const focused = async () => (await boxes(page)).find((b) => b.focus)?.name;
await page.focus('.pane');
for (const [key, name] of [['Home', 'all'], ['ArrowUp', 'app'], ['ArrowUp', 'main'], ['ArrowLeft', 'idle'], ['ArrowRight', 'main'], ['ArrowUp', 'parse'],
	['ArrowDown', 'main']]) {
	await page.keyboard.press(key);
	check(`${key} goes to ${name}`, (await focused()) === name, await focused());
}
check('the focus is told to screen readers', await page.evaluate(() => {
	const item = document.getElementById(document.activeElement.getAttribute('aria-activedescendant'));
	return item.getAttribute('role') === 'treeitem' && /^main, 89 samples · 80\.9%/.test(item.getAttribute('aria-label'));
}));
await page.keyboard.press('Enter');
check('Enter zooms', (await hash()) === '#z=app/main', await hash());
await page.keyboard.press('Escape');
await page.keyboard.press('?');
check('? lists the keys', /callers and callees of the function/.test(await page.textContent('#help')) && await page.isVisible('#help'));
await page.keyboard.press('Escape');

check('a low graph does not scroll', await page.evaluate(() => [...document.querySelectorAll('.pane')].every((pane) => pane.scrollHeight <= pane.clientHeight)));

await page.keyboard.press('r');
check('r tells how the recording was made', /written by.*wick \d/.test(await page.textContent('#session')) && /samples.*110/.test(await page.textContent('#session')),
	await page.textContent('#session'));
await page.keyboard.press('Escape');
const lightColor = (await boxes(page))[0].color;
await page.keyboard.press('t');
check('t makes the page dark', (await boxes(page))[0].color !== lightColor && (await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === 'rgb(23, 25, 30)');
await page.keyboard.press('t');

await page.keyboard.press('i');
check('inverted, leaves come first', outline(await boxes(page)) === 'all 110(app 104(idle 15, lex 60(parse 50(main 30, parse 20(main 20)), reply 10(main 10)), ' +
	'parse 4(parse 4(main 4)), send 25(reply 25(main 25))), other 6(lex 6(run 6)))', outline(await boxes(page)));
await page.keyboard.press('b');
await page.keyboard.press('b');
check('without groups, leaves of all processes are one', (await boxes(page)).filter((b) => b.depth === 1).map((b) => `${b.name} ${b.total}`).join() ===
	'idle 15,lex 66,parse 4,send 25', outline(await boxes(page)));
await page.keyboard.press('b');
await page.keyboard.press('i');
await page.keyboard.press('c');
const icicle = await boxes(page);
check('an icicle has the root at the top', icicle[0].top < named(icicle, 'lex').top);
await page.keyboard.press('c');
const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('d')]);
check('folded stacks can be taken away', readFileSync(await download.path(), 'utf8').trim().split('\n').sort().join('\n') ===
	readFileSync('page.folded', 'utf8').trim().split('\n').sort().join('\n'));

// The table

await page.keyboard.press('2');
const table = await rows(page);
await shot('page-table');
check('the table has self and total, of recursion once', table.map((r) => r.slice(0, 5).join(' ')).join('\n') === ['66 60.0% 66 60.0% lex', '25 22.7% 25 22.7% send',
	'15 13.6% 15 13.6% idle', '4 3.6% 54 49.1% parse', '0 0.0% 89 80.9% main', '0 0.0% 35 31.8% reply', '0 0.0% 6 5.5% run'].join('\n'), table.join('\n'));
await page.click('th:nth-child(3) button');
check('a click on a heading sorts', (await rows(page)).map((r) => r[4]).join() === 'main,lex,parse,reply,send,idle,run' &&
	(await page.getAttribute('th:nth-child(3)', 'aria-sort')) === 'descending');
await page.click('th:nth-child(5) button');
check('names go upwards first', (await rows(page)).map((r) => r[4]).join() === 'idle,lex,main,parse,reply,run,send');
await search(page, '^r');
check('the search filters', (await rows(page)).map((r) => r[4]).join() === 'reply,run' && /2 functions/.test(await page.textContent('#note')));
check('what is shown is what is in the document', (await page.$$eval('#rows tr[data-id]', (all) => all.length)) === 2);
await page.keyboard.press('Escape');
await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');

// Callers and callees

check('Enter in the table shows callers and callees', /^#w=sandwich/.test(await hash()) && /^lex/.test(await page.textContent('#chosen')), await page.textContent('#chosen'));
let [callers, callees] = await halves(page);
await shot('page-sandwich');
check('callers of all calls together', outline(callers) === 'lex 66(parse 50(main 30, parse 20(main 20)), reply 10(main 10), run 6)', outline(callers));
check('a leaf has no callees', outline(callees) === 'lex 66');
const at = named(callers, 'parse');
await page.mouse.click(at.x, at.top + 8);
[callers, callees] = await halves(page);
check('a click goes on to another function', outline(callees) === 'parse 54(lex 30, parse 24(lex 20))' && outline(callers) === 'parse 54(main 54)', outline(callees));
const link = await page.evaluate(() => location.href);

// Links, looks

const other = await browser.newPage({ viewport: { width: 1300, height: 700 }, colorScheme: 'dark' });
await other.goto(link);
await ready(other);
check('a link shows the same', outline((await halves(other))[1]) === outline(callees) && /^parse/.test(await other.textContent('#chosen')));
await other.goto('about:blank');
await other.goto(`${file}#z=app/main/nowhere/x&s=lex&m=heat&w=nothing&v=99&t=5-2&f=x~9`);
await ready(other);
const dark = await boxes(other);
check('what is not there is ignored', dark.find((b) => !b.dim).name === 'main' && dark.some((b) => b.hit));
check('dark pages have dark colours', dark.find((b) => !b.hit && b.name === 'main').color !== '#fff8dc' && (await other.evaluate(() =>
	getComputedStyle(document.body).backgroundColor)) === 'rgb(23, 25, 30)', dark[0].color);
await page.emulateMedia({ media: 'print' });
check('tools are not printed', !(await page.isVisible('.find')) && !(await page.isVisible('.bar')));
await page.emulateMedia({ media: 'screen' });

// The same as the SVG

await other.emulateMedia({ colorScheme: 'light' });
await other.goto(file.replace('.html', '.svg'));
const drawn = await other.evaluate(() => [...document.querySelectorAll('.frames:not([display]) rect')].map((rect) =>
	[rect.flameFrame.row, rect.flameFrame.name, ...rect.flameFrame.about, getComputedStyle(rect).fill].join('|')));
const rgb = (color) => `rgb(${[1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16)).join(', ')})`;
check('names, numbers and colours are those of the SVG', drawn.sort().join('\n') === first.map((b) => [b.depth, ...b.words, rgb(b.color)].join('|')).sort().join('\n'),
	`${drawn.sort().join('\n')}\n${first.map((b) => [b.depth, ...b.words, rgb(b.color)].join('|')).sort().join('\n')}`);

// Hostile names

const svgNames = async () => {
	await other.goto(file.replace('page.html', 'hostile.svg'));
	return other.evaluate(() => [...document.querySelectorAll('.frames:not([display]) rect')].map((rect) => rect.flameFrame.name));
};
const wanted = await svgNames();
await other.goto(file.replace('page.html', 'hostile.html'));
await ready(other);
const hostile = await boxes(other);
const cutNames = (list) => list.map((name) => name.slice(0, 4000)).sort().join('\n');
check('hostile names are those of the SVG', hostile.length === 32 && cutNames(hostile.map((b) => b.name)) === cutNames(wanted));
check('no control bytes and no marks of direction', hostile.every((b) => b.name.length <= 4096 && !/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(b.name)));
check('markup is text', await other.evaluate(() => document.querySelectorAll('script').length === 2 && document.querySelectorAll('img').length === 0));
let linked = 0;
for (const box of hostile.filter((b) => b.depth === 2)) {
	await other.mouse.click(box.x, box.top + 8);
	const there = (await boxes(other)).find((b) => !b.dim);
	linked += there.name === box.name ? 1 : 0;
	await other.keyboard.press('Escape');
}
check('each can be zoomed to', linked === 15, linked);
await other.keyboard.press('2');
check('each has its row', (await rows(other)).length === 29, (await rows(other)).length);
await other.goto(`${file.replace('page.html', 'hostile.html')}#w=sandwich&f=${encodeURIComponent('{{7*7}}${alert(5)}')}`);
await other.click('#chosen button');
check('one can be searched for by its name', /, 1 box$/.test(await other.textContent('#found')), await other.textContent('#found'));

// Several values

await other.goto(file.replace('page.html', 'values.html'));
await ready(other);
const walk = named(await boxes(other), 'walk');
check('widths are of the main value, tooltips tell all', walk.total === 600 && walk.words.some((w) => /^instructions 300 /.test(w)) && walk.words.some((w) => /^IPC 0\.500, overall 1\.500$/.test(w)),
	walk.words.join('\n'));
await other.keyboard.press('v');
check('v shows the next value', named(await boxes(other), 'read').total === 10 && /^samples 100/.test(await other.textContent('#summary')), await other.textContent('#summary'));
await other.selectOption('#switches select[title^="what colours"]', 'colours: IPC');
check('colours can be ratios', named(await boxes(other), 'walk').class === 'm4' && named(await boxes(other), 'add').class === 'd4');
await finish(opened);
