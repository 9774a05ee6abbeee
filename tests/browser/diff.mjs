// SPDX-License-Identifier: BSD-2-Clause
// Checks a differential flame graph of before.folded and after.folded in a real browser:
//
//	node diff.mjs DIFF.svg [SCREENSHOT-FOLDER]
//
// Prints each check; exits 1 when one failed.
import { boxes, check, finish, middle, open, sound, tooltip, width } from './lib/page.mjs';

const opened = await open(500);
const { page, shot } = opened;
const named = (list, name) => list.find((b) => b.text.startsWith(name));

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

let at = await middle(page, 'parse');
await page.mouse.move(at.x, at.y);
const tip = await tooltip(page);
check('the tooltip tells both shares and both amounts', /share \d+\.\d% → \d+\.\d%: \+/.test(tip) && /samples 3,000 → 5,400: \+2,400, \+80\.0%/.test(tip), tip);
await shot('diff-tooltip');

at = await middle(page, 'new_check');
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
await page.keyboard.press('b'); // Enter has left the field
check('matches are counted on the side that is shown', (await share()) > 0 && (await share()) < shareAfter, await share());
await page.keyboard.press('b');

const names = await page.evaluate(() => [...document.querySelectorAll('.frames:not([display]) rect')].map((rect) => rect.flameFrame.name));
check('hostile names stay names', names.includes('</script><script>alert(1)</script>') && names.includes('f|g data-s="x"') &&
	names.includes('trailing 7') && names.every((n) => !/[\u0000-\u001f\u202e]/.test(n)), JSON.stringify(names));
check('the changes of hostile names are their own', await page.evaluate(() => [...document.querySelectorAll('.frames:not([display]) rect')].every((rect) =>
	rect.flameFrame.changes.length === 2 && rect.flameFrame.colors.every((c) => /^([md][1-4]|same)$/.test(c)))));
await page.emulateMedia({ colorScheme: 'dark' });
await shot('diff-dark');
await finish(opened);
