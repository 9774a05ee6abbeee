// SPDX-License-Identifier: BSD-2-Clause
// What scripts that are shared with the flame page (src/view/page/shared) leave to the page, and what they
// offer: they are plain scripts without types.
declare function showAll(): void;

declare module '*/quantity.js' {
	export function changeText(change: number, unit: string): string;
	export function countText(count: number): string;
	export function pointsText(change: number): string;
	export function quantity(value: number, unit: string): string;
	export function relativeText(before: number, after: number): string;
	export function roundStep(least: number): number;
	export function signed(value: number, suffix: string): string;
}

declare module '*/theme.js' {
	export function isDark(): boolean;
	export function showTheme(): void;
	export function timelineColors(): Record<'bar' | 'away' | 'dull' | 'memory' | 'gauge' | 'off' | 'line' | 'edge' | 'site', string>;
	export function toggleTheme(): void;
	export function watchTheme(): void;
}
