// SPDX-License-Identifier: BSD-3-Clause
// Light and dark themes: colours of frames by kind, of their surroundings, of curves and of flows; and the button.
"use strict";

const COLOURS = {
  light: { RTS: "#3b8fc4", CTS: "#8cc6e8", DATA: "#e08a2e", "TCP ACK": "#4f9a3d", ACK: "#9db8a5", ROUTING: "#9467bd",
    MANAGEMENT: "#c58fb4", UDP: "#c9a227", OTHER: "#8a929b", ENCRYPTED: "#7d7340", noise: "#b8860b",
    well: "#b9c3cc", only: "#dfe4e8", nav: "#c9b3e6", count: "#58a4c9", ifs: "#bfe0ee", frozen: "#e3e6e9", window: "#0b6e9922" },
  dark: { RTS: "#4da3d9", CTS: "#2f6c93", DATA: "#e79a48", "TCP ACK": "#62b04e", ACK: "#56705e", ROUTING: "#a985d0",
    MANAGEMENT: "#9a6a8b", UDP: "#d4b84a", OTHER: "#7b848d", ENCRYPTED: "#a0954f", noise: "#e0b040",
    well: "#56616b", only: "#323a41", nav: "#5f4a85", count: "#3f93bd", ifs: "#23485a", frozen: "#2a3036", window: "#5bb7e033" },
};
const OF_STYLE = ["paper", "ink", "quiet", "faint", "lane", "mark", "lost"];  // these are in base.css
const SHADES = { light: ["#0b6e99", "#d9822b", "#4b8b3b", "#8b4b8b", "#777777", "#b5485d", "#2f8f8f", "#a08020"],
  dark: ["#5bb7e0", "#f0a050", "#7cc46a", "#c58fd0", "#a8b0b8", "#f08a9c", "#66c7c7", "#d8bc50"] };  // colours of curves
const FLOWS = { light: ["#0b6e99", "#c2486b", "#2aa198", "#b8860b", "#6a51a3", "#8c564b", "#5c8a1f", "#e377c2"],
  dark: ["#5bb7e0", "#f08aa8", "#57d1c6", "#e0b040", "#b3a0e8", "#c9958a", "#a3cf5c", "#f2a3dc"] };  // different from those of frames
const element = (id) => document.getElementById(id);

let colours = COLOURS.light, shades = SHADES.light, flowColours = FLOWS.light;

const flowColour = (number) => flowColours[number % flowColours.length];

// Sets a theme by its name, by default the desktop's. `element("theme")` is the button that changes it.
function setTheme(name) {
  const dark = name ? name === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const now = dark ? "dark" : "light";
  document.documentElement.dataset.theme = now;
  colours = COLOURS[now];
  const style = getComputedStyle(document.documentElement);
  for (const name of OF_STYLE) colours[name] = style.getPropertyValue(`--${name}`).trim();
  shades = SHADES[now];
  flowColours = FLOWS[now];
  element("theme").textContent = dark ? "light" : "dark";
}

const otherTheme = () => document.documentElement.dataset.theme === "dark" ? "light" : "dark";

function tag(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, of] of Object.entries(attributes)) if (of !== undefined && of !== null && of !== false) made.setAttribute(key, of === true ? "" : of);
  made.append(...inside);
  return made;
}

// Copies a text, which the page shows in an element, and says so on the button.
async function copyText(text, shown, button) {
  try { await navigator.clipboard.writeText(text); } catch {
    getSelection().selectAllChildren(shown);
    document.execCommand("copy");
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1200);
}

// An entry of a legend.
function colourKey(name, style) {
  const made = tag("span", { class: "key" }, tag("i"), name);
  made.firstChild.style.background = style;
  return made;
}
