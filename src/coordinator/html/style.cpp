#include "coordinator/html/style.hpp"

namespace kernelpro::html {

Markup style_sheet() {
  return Markup::literal(R"css(<style>
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f4f6f8; --ink: #1b1f24; --quiet: #55606c; --rule: #d5dbe1;
  --blue: #0072b2; --orange: #b34a00; --purple: #92457a; --amber: #8a6000; --green: #00795a;
  --added: #dcecf9; --removed: #fbe6d6; --marked: #fff1b8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12161b; --panel: #1b2128; --ink: #e8edf2; --quiet: #a3b0bc; --rule: #36404b;
    --blue: #56b4e9; --orange: #ff9a5c; --purple: #e09ac6; --amber: #f0c34e; --green: #3fd6a8;
    --added: #12344c; --removed: #4a2a15; --marked: #4d4210;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.25rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.sentence { font-size: 1.15rem; }
.note { color: var(--quiet); font-size: .9rem; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .75rem 0 0; font-size: .95rem; }
a { color: var(--blue); }
.scroll { overflow: auto; max-height: 85vh; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid var(--rule); overflow-wrap: break-word; min-width: 3rem; }
thead th { position: sticky; top: 0; background: var(--ground); white-space: nowrap; }
tbody th { font-weight: 600; color: var(--quiet); white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.wide { min-width: 14rem; overflow-wrap: anywhere; }
th.number { text-align: right; }
tr:target td { background: var(--marked); }
tr.best td { font-weight: 600; }
pre, code { font: .84rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
  monospace; }
pre { margin: .5rem 0; padding: .6rem .75rem; background: var(--panel); border-radius: 6px;
  overflow: auto; max-height: 85vh; tab-size: 4; }
pre.words { white-space: pre-wrap; overflow-wrap: anywhere; }
pre .row { display: block; width: max-content; min-width: 100%; }
pre .added { background: var(--added); }
pre .removed { background: var(--removed); }
pre .marked { background: var(--marked); font-weight: 600; }
pre .hunk { color: var(--quiet); }
pre .count { color: var(--quiet); user-select: none; }
details { margin: .4rem 0; }
details > :not(summary) { margin-left: .5rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.finding { border-left: 4px solid var(--rule); padding-left: .9rem; margin: 1.25rem 0; }
.finding.high { border-color: var(--orange); }
.finding.medium { border-color: var(--amber); }
.finding h3 { margin-top: 0; }
.bars { display: grid; grid-template-columns: max-content minmax(4rem, 12rem) max-content 1fr;
  gap: .25rem .75rem; align-items: center; font-size: .9rem; margin: .5rem 0; }
.bars .bar { background: var(--panel); border: 1px solid var(--rule); height: 1rem; width: 100%; }
.bars .text { color: var(--quiet); overflow-wrap: anywhere; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.25rem; padding: 0;
  margin: .5rem 0; font-size: .9rem; }
.legend svg { vertical-align: -3px; }
.picture { overflow: auto; max-height: 85vh; margin: .5rem 0; }
.picture svg { display: block; }
.curve, .roofline { width: 100%; max-width: 720px; min-width: 540px; height: auto; }
.tree { max-width: none; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  fill: var(--ink); }
svg .tick, svg .name, svg .fate, svg .roof-name { fill: var(--quiet); }
svg .speed { font-weight: 600; }
svg .number { font-size: 10px; }
svg .number.small { font-size: 7px; }
svg .grid { stroke: var(--rule); stroke-width: .75; }
svg .axis { stroke: var(--quiet); stroke-width: 1; }
svg .baseline { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 5 4; }
svg .best-line { fill: none; stroke: var(--blue); stroke-width: 2.5; stroke-linejoin: round; }
svg .edge { fill: none; stroke: var(--rule); stroke-width: 1.5; }
svg .edge.best { stroke: var(--blue); stroke-width: 3.5; }
svg .ring { fill: none; stroke: var(--green); stroke-width: 2.5; }
svg .mark { fill: var(--ground); stroke-width: 2; }
svg .passed { stroke: var(--blue); }
svg .suspect { stroke: var(--blue); stroke-dasharray: 3 2; }
svg .wrong { stroke: var(--orange); }
svg .unbuilt { stroke: var(--purple); }
svg .broken { stroke: var(--amber); }
svg .cheated { stroke: var(--ink); stroke-width: 3; }
svg .silent { stroke: var(--quiet); stroke-dasharray: 2 2; stroke-width: 1.25; }
svg line.roof { stroke: var(--ink); stroke-width: 2; }
svg line.other { stroke: var(--quiet); stroke-width: 1.25; stroke-dasharray: 6 4; }
svg .path { fill: none; stroke: var(--blue); stroke-width: 2; stroke-dasharray: 2 3; }
svg .roof-name, svg .fate, svg .speed { paint-order: stroke; stroke: var(--ground);
  stroke-width: 3px; stroke-linejoin: round; }
svg .leader { stroke: var(--rule); stroke-width: 1; }
svg .fill { fill: var(--blue); }
svg a { text-decoration: none; }
@media print {
  :root { --ground: #ffffff; --panel: #f4f6f8; --ink: #000000; --quiet: #444444; --rule: #bbbbbb;
    --blue: #0072b2; --orange: #b34a00; --purple: #92457a; --amber: #8a6000; --green: #00795a;
    --added: #dcecf9; --removed: #fbe6d6; --marked: #fff1b8; }
  body { font-size: 11pt; }
  nav { display: none; }
  .scroll, .picture, pre { overflow: visible; max-height: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  pre .row { width: auto; }
  .curve, .roofline, .tree { max-width: 100%; min-width: 0; height: auto; }
  .picture, .finding, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
</style>
)css");
}

}  // namespace kernelpro::html
