// SPDX-License-Identifier: BSD-2-Clause
// Checks the page of the heap of tests/workloads/tides in a real browser: numbers, the table, stacks,
// the chart, what stands out, keys, links, and that names are no markup.
//
//	node heap_page.mjs TIDES.html [SCREENSHOT-FOLDER]
import { check, finish } from './lib/page.mjs';
import { openHtml, ready, rows, search, tip } from './lib/html.mjs';

const opened = await openHtml(900);
const { page, shot, file, browser } = opened;
const hash = () => page.evaluate(() => location.hash);
const text = (what) => page.evaluate((selector) => document.querySelector(selector).innerText, what);
const row = async (name) => (await rows(page)).find((cells) => cells[0] === name) ?? [];

await shot('heap');
check('a title is text', (await text('h1')) === '<i>tides</i></script>', await text('h1'));
check('the summary has the peak', /Peak\s+4\.7\d MiB\s+in 10,0\d\d blocks/.test(await text('#facts')), await text('#facts'));
check('nothing was lost', !/lost|frees are|order|sense/.test(await text('#doubts')), await text('#doubts'));

// The table

const at = { peak: 2, end: 4, allocated: 5, blocks: 6, average: 7, temporary: 8 };
const rise = await row('rise'), kept = await row('keep_some'), pass = await row('pass');
check('what was live at the peak comes first', (await rows(page))[0][0] === 'rise' && (await rows(page))[1][0] === 'keep_some');
check('a place has its numbers', rise[at.peak] === '3.81 MiB' && rise[at.end] === '0' && rise[at.blocks] === '40' && rise[at.average] === '97.7 KiB', rise);
check('what stays is live at the end', kept[at.peak] === '976.6 KiB' && kept[at.end] === '976.6 KiB', kept);
check('temporary blocks are told', pass[at.temporary] === '100.0%' && pass[at.blocks] === '5,000', pass);
await page.click('#sites th:nth-child(7) button');
check('a click on a heading sorts', (await rows(page))[0][0] === 'keep_some' && (await hash()) === '#o=-blocks', await hash());
await search(page, '^grow$');
check('the filter looks into stacks too', (await rows(page)).map((cells) => cells[0]).sort().join() === 'grow,pass', (await rows(page)).join('\n'));
await page.keyboard.press('End'); // Enter has gone to the table
await page.keyboard.press('ArrowUp');
await page.keyboard.press('Enter');
check('Enter shows the stack, from the place to the root', /^pass/.test(await text('#site')) && /pass\s+.*tides\.c:\d+\s+grow\s+.*tides\.c:\d+/.test(await text('#site')),
	await text('#site'));
check('its line is marked', (await page.$$eval('#site .here .name', (all) => all.map((each) => each.textContent).join())) === 'pass');
await page.keyboard.press('Escape');
check('Escape clears the filter', (await rows(page)).length > 2);

// Leaks: grow() overwrites 50 pointers of keep_some()

const leaks = await page.evaluate(() => window.wickPage.leaks());
check('what is lost for certain comes first', leaks[0][0] === 'keep_some' && leaks[0][2] === 'definite' && leaks[0][5] === '50', leaks.join('\n'));
check('classes are summed up in words', /definite 4\.88 KiB in 50 blocks \(nothing points to it\)/.test(await text('#leaks-told')), await text('#leaks-told'));
await page.click('#leaks tbody tr[data-id="0"] td');
check('a leak has its evidence, advice and stack', /nothing points to it \(scan at exit, confidence 0\.\d\d\)/.test(await text('#leak')) && /The last pointer was overwritten/.test(await text('#leak')) &&
	/keep_some\s+.*tides\.c:\d+\s+main/.test(await text('#leak')), await text('#leak'));
await shot('leaks');
await page.click('#leaks tbody tr[data-id="0"] td');
check('a second click closes it', await page.isHidden('#leak'));

// The chart

check('the rise is told, and who made it', /(spike|step up) to 4\.[78]\d MiB/.test(await text('#findings')) && /rise \(tides\.c:\d+\) \+3\.81 MiB/.test(await text('#findings')),
	await text('#findings'));
await page.click('#findings .place:text-is("rise (' + rise[1] + ')") >> nth=0');
check('a cause leads to its place', /^rise/.test(await text('#site')) && /&f=rise$/.test(await hash()), await hash());
await page.focus('#chart');
await page.keyboard.press('Enter');
check('the keys go to the peak', /live 4\.[78]\d MiB/.test(await tip(page)) && /rise \(tides\.c:\d+\) 3\.81 MiB/.test(await tip(page)), await tip(page));
check('and tell it to screen readers', /live 4\.[78]\d MiB/.test(await page.getAttribute('#chart', 'aria-valuetext')));
await page.keyboard.press('Home');
const chart = await page.locator('#chart').boundingBox();
await page.mouse.move(chart.x + chart.width - 40, chart.y + 100);
check('pointing tells the moment', /live 1\.0\d MiB in 10,0\d\d blocks/.test(await tip(page)) && /allocated .*\/s, freed .*\/s/.test(await tip(page)), await tip(page));
check('something is drawn', await page.evaluate(() => {
	const canvas = document.getElementById('chart'), pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
	return new Set(new Uint32Array(pixels.buffer)).size > 10;
}));

// Memory and addresses

await page.focus('#memory');
await page.keyboard.press('Home');
check('a reading is told', /: [\d.]+ MiB resident/.test(await tip(page)), await tip(page));
await page.keyboard.press('ArrowRight'); // a split follows the first sum
check('and another in its parts', /resident\nlive blocks .*\nuntracked .*\nstacks .*\nfiles .*\nwick itself .*\nthe allocator holds .* not in live blocks/.test(await tip(page)), await tip(page));
check('the keys tell them to screen readers', /live blocks/.test(await page.getAttribute('#memory', 'aria-valuetext')) && (await page.getAttribute('#memory', 'aria-valuenow')) === '1');
await page.evaluate(() => document.getElementById('map').scrollIntoView({ block: 'center' }));
const map = await page.locator('#map').boundingBox();
await page.mouse.move(map.x + map.width - 30, map.y + map.height - 40);
check('pointing at an address tells what was live there', /^0x[0-9a-f]+ . 0x[0-9a-f]+\nat .*\n[\d.]+ (B|KiB|MiB)? ?live, [\d.]+ ?% of/.test(await tip(page)), await tip(page));
check('blocks that stay are in the map', await page.evaluate(() => {
	const canvas = document.getElementById('map'), pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
	return new Set(new Uint32Array(pixels.buffer)).size > 5;
}));
await shot('heap-map');

// Sizes, lifetimes, threads

check('sizes', /64 B . 127 B\s+10,0\d\d\s/.test(await text('#sizes')), await text('#sizes'));
check('lifetimes', /Cumulative/.test(await text('#lives')) && /100\.0 %/.test(await text('#lives')), await text('#lives'));
const threads = await page.evaluate(() => window.wickPage.threads());
check('names of threads are text', threads.some((cells) => /^<b>tide<\/b>\/\d+$/.test(cells[0]) && cells[5] === '5,050'), threads.join('\n'));
check('and make no elements', (await page.$$eval('b, main i:not(.legend i), h1 i', (all) => all.length)) === 0);

// Links, looks

const other = await browser.newPage({ viewport: { width: 420, height: 800 }, colorScheme: 'dark' });
await other.goto(`${file}#s=keep&o=%2Bnothing&f=keep_some~9`);
await ready(other);
check('a link shows the same', (await rows(other)).map((cells) => cells[0]).join() === 'keep_some' && /^keep_some/.test(await other.textContent('#site')));
check('it is dark where the system is', (await other.evaluate(() => getComputedStyle(document.body).backgroundColor)) === 'rgb(23, 25, 30)');
check('a narrow window needs no scrolling sideways', await other.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
await page.keyboard.press('?');
check('? lists the keys', /filter sites/.test(await text('#help')) && await page.isVisible('#help'));
await page.keyboard.press('Escape');
await page.keyboard.press('r');
check('r tells how the recording was made', /written by.*wick \d/.test(await page.textContent('#session')) && /blocks/.test(await page.textContent('#session')),
	await page.textContent('#session'));
await finish(opened);
