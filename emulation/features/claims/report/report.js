// SPDX-License-Identifier: BSD-3-Clause
// The claims' report, written from its data.
"use strict";

const kind = (verdict) => verdict.startsWith("not") ? "not" : verdict.startsWith("reproduced") ? "reproduced" : "open";

function listed(lines) {
  return tag("ul", {}, ...lines.map((line) => tag("li", {}, line)));
}

function rowOf({ number, paper, short, text, columns }) {
  const inside = columns.map(({ name, verdict, lines }) => tag("div", {}, tag("b", {}, `${name}: ${verdict}`), listed(lines)));
  const claim = tag("details", {}, tag("summary", {}, short), tag("p", {}, text), ...inside);
  return tag("tr", { id: number }, tag("th", { scope: "row" }, number), tag("td", {}, paper), tag("td", {}, claim),
    ...columns.map(({ verdict }) => tag("td", { class: `verdict ${kind(verdict)}` }, verdict)));
}

function table(heads, rows, numbers = []) {
  const head = heads.map((name, at) => tag("th", { scope: "col", class: numbers.includes(at) && "number" }, name));
  return tag("table", {}, tag("thead", {}, tag("tr", {}, ...head)), tag("tbody", {}, ...rows));
}

async function load() {
  const [page] = await unpack(element("data").textContent);
  element("said").textContent = page.said;
  element("counts").append(table(["verdict", "", ...page.heads], page.counts.map(([verdict, means, ...counts]) =>
    tag("tr", {}, tag("th", { scope: "row", class: kind(verdict) }, verdict), tag("td", {}, means), ...counts.map((count) => tag("td", { class: "number" }, count)))), [2, 3]));
  for (const { about, claims } of page.subjects)
    element("claims").append(tag("h2", {}, about), table(["", "paper", "says", ...page.heads], claims.map(rowOf)));
  for (const { title, picture } of page.papers)
    element("papers").append(tag("h3", {}, title), ...(picture ? [tag("img", { src: picture, alt: title })] : []));
  const swap = () => setTheme(otherTheme());
  setTheme();
  element("theme").onclick = swap;
  document.addEventListener("keydown", (event) => { if (event.key === "d" && !event.ctrlKey && !event.metaKey) swap(); });
}

load();
