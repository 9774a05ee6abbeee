// SPDX-License-Identifier: BSD-2-Clause
// The end of theme.js of the flame page (src/view/page/shared), which makes a module of it.
export { isDark, showTheme, timelineColors, toggleTheme, watchTheme };
