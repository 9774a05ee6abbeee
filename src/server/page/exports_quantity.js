// SPDX-License-Identifier: BSD-2-Clause
// The end of quantity.js of the flame page (src/view/page/shared), which makes a module of it.
export { changeText, countText, pointsText, quantity, relativeText, roundStep, signed };
