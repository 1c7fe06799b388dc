// SPDX-License-Identifier: BSD-3-Clause
// Writes the report from its data.
"use strict";

const plots = [];
let run = null;

function tableOf({ title, caption, columns, rows, rules, meaning, means = [] }) {
  const after = new Set(rules), look = (column) => [column.right && "right", column.dim && "dim"].filter(Boolean).join(" ") || null;
  const head = tag("tr", {}, ...columns.map((column) => tag("th", { scope: "col", class: look(column) }, column.name)));
  const body = rows.map((row, n) => tag("tr", { class: after.has(n) ? "rule" : null }, ...row.map((cell, at) =>
    at ? tag("td", { class: look(columns[at]) }, cell) : tag("th", { scope: "row", title: means[n] || null, class: means[n] ? "means" : null }, cell))));
  const made = tag("table", {}, tag("thead", {}, head), tag("tbody", {}, ...body));
  if (title) made.prepend(tag("caption", { title: meaning || null }, title));
  return tag("div", { class: "wide" }, made, ...(caption ? [tag("small", {}, caption)] : []));
}

function plain(names, rows) {
  return tableOf({ columns: names.map((name) => ({ name: name.replace(/^>/, ""), right: name.startsWith(">") })), rows, rules: [] });
}

function command(words) {
  const button = tag("button", { type: "button", "aria-label": `copy ${words}` }, "copy"), code = tag("code", {}, words);
  button.onclick = () => copyText(words, code, button);
  return tag("div", { class: "command" }, code, button);
}

function claims() {
  const tone = (verdict) => /^(agrees$|holds in all)/.test(verdict) ? "good" : /^(differs$|does not hold)/.test(verdict) ? "bad" : "";
  const held = run.claims.filter(({ verdict }) => tone(verdict) === "good").length;
  element("claims").append(tag("p", { class: "quiet" }, `${held} of ${run.claims.length} ${/seeds/.test(run.claims[0].verdict) ? "hold in all seeds" : "agree in this seed; one seed gives no verdict: use --seeds 1..5"}. Click a claim to see its checks and their numbers.`),
    tag("ul", {}, ...run.claims.map(({ name, verdict, text, checks }) => tag("li", {}, tag("details", {},
      tag("summary", {}, tag("b", {}, name), tag("span", { class: `verdict ${tone(verdict)}` }, verdict.split("; ")[0]),
        tag("span", {}, text, ...(verdict.includes("; ") ? [tag("small", {}, ` · ${verdict.split("; ").slice(1).join("; ")}`)] : []))),
      tag("pre", {}, checks.join("\n")))))));
}

function figures() {
  for (const each of plots.splice(0)) each.destroy();
  curves.length = 0;
  element("figures").querySelector(".charts")?.remove();
  const grid = tag("div", { class: "charts" });
  element("figures").append(grid);
  extent = extentOf(run.charts, run.column);
  const places = [];  // all are placed before the first is drawn, as this determines its width
  for (const chart of run.charts) {
    if (chart.kind === "bars") { grid.append(bars(chart)); continue; }
    const place = tag("div");
    grid.append(tag("div", { class: `chart ${chart.kind === "cases" ? "" : "long"}` }, tag("h3", {}, chart.title), ...keys(chart), place));
    places.push([chart, place]);
  }
  for (const [chart, place] of places) {
    const made = (chart.kind === "time" ? curve : chart.kind === "spans" ? spans : cases)(chart, place, run.column);
    plots.push(made);
    if (chart.kind !== "cases") curves.push(made);
  }
}

function runs() {
  const several = { case: new Set(run.runs.map((each) => each.case)).size > 1, variant: new Set(run.runs.map((each) => each.variant)).size > 1 };
  const body = run.runs.map((each) => {
    const links = each.left.flatMap((file, n) => [n ? " · " : "",
      tag("a", { href: `${encodeURIComponent(each.folder)}/${file === "." ? "" : file}` }, file === "." ? "folder" : file.replace(".html", ""))]);
    const cells = [several.case && each.case, several.variant && each.variant, each.seed, whole(each.air_s), whole(each.wall_s), whole(each.goodput_kbps)];
    return [tag("code", {}, each.folder), ...cells.filter((cell) => cell !== false), tag("span", {}, ...links)];
  });
  const names = ["run", several.case && "case", several.variant && "variant", ">seed", ">air, s", ">took, s", ">goodput, kb/s", "files"].filter(Boolean);
  element("runs").append(plain(names, body));
  for (const [file, verb] of Object.entries(run.pages)) {
    const without = run.runs.find((each) => each.trace && each.left.length && !each.left.includes(file));
    if (without) element("runs").append(tag("p", { class: "quiet" }, `This command makes the ${file.replace(".html", "")} of a run:`),
      command(`./dcflab ${verb} ${run.folder}/${without.folder}`));
  }
  if (run.runs.some((each) => !each.repeatable)) element("runs").append(tag("p", { class: "verdict" }, "The seed does not determine everything in these runs."));
}

function settings() {
  if (!run.settings.length) { element("settings").append(tag("p", { class: "quiet" }, "None.")); return; }
  const differ = run.settings.some((each) => each.runs);
  element("settings").append(tag("p", { class: "quiet" }, "Read back from the kernel after they were set."), plain(
    ["setting", ">value", ">default", "stations", ...(differ ? ["only in"] : [])],
    run.settings.map(({ what, value, default: usual, where, runs: only }) => [what, value, usual, where, ...(differ ? [only] : [])])));
}

function repeat() {
  const { host, made_of: made } = run;
  element("repeat").append(command(run.command), tag("p", { class: "quiet" }, "Run it again, and compare byte for byte:"), command(`./dcflab replay ${run.folder}`),
    tag("p", {}, `It ran in the lane “${host.lane}”, in ${host.clock} time` + (host.kernel ? `, on Linux ${host.kernel}` : "") + "."));
  element("repeat").append(tag("details", {}, tag("summary", {}, "The whole specification"), plain(["option", "value"], run.options)));
  element("repeat").append(tag("details", {}, tag("summary", {}, "The inputs of the first run"), plain(["input", "SHA-256"], Object.entries(made))));
}

function theme(name) {
  setTheme(name);
  if (run.charts.length) figures();
}

async function load() {
  const [head, column] = await unpack(element("data").textContent);
  run = { ...head, column };
  element("said").textContent = run.said;
  if (run.troubles.length) {
    element("troubles").hidden = false;
    element("troubles").append(...run.troubles.map((line) => tag("p", {}, line)));
  }
  element("results").append(tag("div", { class: "tables" }, ...run.tables.map(tableOf)));
  if (run.claims.length) claims(); else element("claims").remove();
  runs();
  settings();
  repeat();
  if (!run.charts.length) element("figures").remove();
  for (const section of document.querySelectorAll("main > section[id]")) if (section.querySelector("h2"))
    document.querySelector("nav").append(tag("a", { href: `#${section.id}` }, section.querySelector("h2").textContent.replace(/ that differ.*/, "")));
  theme(location.hash.match(/theme=(light|dark)/)?.[1]);
  const swap = () => theme(otherTheme());
  element("theme").onclick = swap;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input")) return;
    if (event.key === "d") swap();
    if (event.key === "0") all();
  });
  let wide = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth === wide) return;
    wide = document.body.clientWidth;
    for (const each of plots) each.setSize({ width: each.root.parentElement.clientWidth, height: each.height });
  }).observe(document.body);
  run.ready_ms = performance.now();
}

load();
