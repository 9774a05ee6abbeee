// SPDX-License-Identifier: BSD-2-Clause
// Checks the timeline and the source lines of the page of a recording (demo.html) against a page
// of the first 640 ms of it (part.html).
//
//	node page_time.mjs DEMO.html [SCREENSHOT-FOLDER]
import { check, finish, sound } from './lib/page.mjs';
import { boxes, named, openHtml, outline, ready, rows } from './lib/html.mjs';

const opened = await openHtml();
const { page, shot, file, browser } = opened;
const about = await page.evaluate(() => JSON.parse(document.getElementById('about').textContent));
const count = 640e6 / about.page.slice_ns;
const whole = await boxes(page);
check('the file tells how it was made', about.wick && about.recording.engine && about.samples > 0 && about.page.values.length === 2, JSON.stringify(about).slice(0, 400));
check('there is a timeline', await page.isVisible('#times') && sound(whole));

// Chooses a part by dragging from one slice to the middle of another.
const times = await page.locator('#times').boundingBox();
const slices = Number(await page.getAttribute('#times', 'aria-valuemax'));
const place = (slice) => times.x + (slice + 0.5) * times.width / slices;
async function brush(from, to) {
	await page.mouse.move(place(from), times.y + 5);
	await page.mouse.down();
	await page.mouse.move((place(from) + place(to)) / 2, times.y + 5);
	await page.mouse.move(place(to), times.y + 5);
	await page.mouse.up();
}
await brush(0, count - 1);
await shot('page-time');
const part = await boxes(page);
check('dragging chooses a part of the time', (await page.evaluate(() => location.hash)) === `#t=0-${count}`, await page.evaluate(() => location.hash));
const table = await rows(page).then(() => page.keyboard.press('2')).then(() => rows(page));
await page.keyboard.press('1');
const other = await browser.newPage({ viewport: { width: 1300, height: 700 } });
await other.goto(file.replace('demo.html', 'part.html'));
await ready(other);
check('its graph is exactly that of --to 640ms', outline(part) === outline(await boxes(other)) && part[0].total < whole[0].total, `${outline(part)}\n${outline(await boxes(other))}`);
await other.keyboard.press('2');
check('and so is its table', JSON.stringify(table) === JSON.stringify(await rows(other)), `${table.join('\n')}\n\n${(await rows(other)).join('\n')}`);
await brush(count, slices - 1);
const rest = await boxes(page);
check('both parts are the whole', part[0].total + rest[0].total === whole[0].total, `${part[0].total} + ${rest[0].total} = ${whole[0].total}`);
await page.focus('#times');
await page.keyboard.press('ArrowLeft');
check('arrow keys move it', /^#t=\d+-\d+$/.test(await page.evaluate(() => location.hash)) && !(await page.evaluate(() => location.hash)).endsWith(`-${slices}`));
await page.keyboard.press('Escape');
check('Escape shows all of the time', outline(await boxes(page)) === outline(whole));
await page.click('.lane >> nth=0');
check('a thread can be chosen', /only \S+\/\d+/.test(await page.textContent('#summary')), await page.textContent('#summary'));
await page.keyboard.press('Escape');

// Source lines

const hot = named(whole, 'intersect') ?? whole[whole.length - 1];
await page.goto(`${file}#w=source&f=${encodeURIComponent(hot.name)}`);
await page.reload();
await ready(page);
await shot('page-source');
const lines = await page.$$eval('#lines tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
check('the lines of a function are there with their text', lines.some((line) => line[3]?.includes('intersect(void)')), JSON.stringify(lines).slice(0, 300));
const self = (await page.textContent('#chosen, #sourceof >> nth=0'), await page.textContent('#sourceof')).match(/self .*?\(([\d.]+%)\)/)[1];
check('and what they cost', lines.some((line) => line[0] === self), `${self} ${JSON.stringify(lines.filter((line) => line[0]))}`);
await other.goto(file.replace('demo.html', 'bare.html') + `#w=source&f=${encodeURIComponent(hot.name)}`);
await ready(other);
check('without sources there are numbers of lines', /left out/.test(await other.textContent('#file')) && !(await other.textContent('#lines')).includes('intersect'),
	await other.textContent('#file'));
await finish(opened);
