// SPDX-License-Identifier: BSD-2-Clause
// What the programs that check pages (x.html) share. A page publishes its boxes as wickPage:
// they are on canvases.
import { open } from './page.mjs';

export const ready = (page) => page.waitForFunction(() => window.wickPage);

export async function openHtml(height = 700) {
	const opened = await open(height);
	await ready(opened.page);
	return opened;
}

// The boxes of a graph (0, of a comparison also 1) or of a half of the sandwich.
export const boxes = (page, which = 0) => page.evaluate((i) => window.wickPage.boxes(i), which);
export const halves = async (page) => [await page.evaluate(() => window.wickPage.sandwich(0)), await page.evaluate(() => window.wickPage.sandwich(1))];
export const rows = (page) => page.evaluate(() => window.wickPage.rows());
export const named = (list, name) => list.find((box) => box.name === name);

// Points at the first box of a name, or clicks on it.
export async function point(page, name, which = 0) {
	const box = named(await boxes(page, which), name);
	await page.mouse.move(box.x, box.top + 8);
	return box;
}

export async function clickBox(page, name, which = 0) {
	const box = await point(page, name, which);
	await page.mouse.click(box.x, box.top + 8);
}

export const tip = (page) => page.evaluate(() => {
	const at = document.getElementById('tip');
	return at.hidden ? '' : [...at.children].map((line) => line.textContent).join('\n');
});

export async function search(page, text) {
	await page.keyboard.press('/');
	await page.keyboard.type(text);
	await page.keyboard.press('Enter');
}

// "name total" of each box below another, as "a 3(b 2, c 1)", for boxes of one tree in pre-order.
export function outline(list) {
	const put = (i) => {
		const children = [];
		for (let k = i + 1; k < list.length && list[k].depth > list[i].depth; k++)
			if (list[k].depth === list[i].depth + 1)
				children.push(put(k));
		return `${list[i].name} ${list[i].total}${children.length ? `(${children.join(', ')})` : ''}`;
	};
	return list.length ? put(0) : '';
}
