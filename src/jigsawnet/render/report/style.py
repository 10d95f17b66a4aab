"""How the report looks: light and dark, on a screen and on paper. No fonts and nothing else from outside."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --soft: #5a6570; --paper: #ffffff; --card: #f5f6f8; --line: #d5dae0;
  --accent: #1f5f99; --bad: #a33c00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #a3adb8; --paper: #15191e; --card: #1f252c; --line: #38414b;
    --accent: #8cc1f0; --bad: #ffb078; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 72rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .35rem; }
p { margin: .4rem 0; max-width: 62rem; }
a { color: var(--accent); }
nav { margin: .8rem 0 0; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.soft { color: var(--soft); }
.small { font-size: .875rem; }
.verdict { font-size: 1.1rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem;
  margin: 1rem 0 0; padding: 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { margin: 0; font-size: 1.15rem; font-weight: 600; line-height: 1.3; }
.facts dd small { display: block; font-size: .8125rem; font-weight: 400; color: var(--soft); }
.warnings { margin: 1rem 0 0; padding: .6rem 1rem .6rem 2rem; border-left: .3rem solid var(--bad); background: var(--card); }
svg.sheet { display: block; width: 100%; height: auto; max-height: 52rem; border: 1px solid var(--line); border-radius: .4rem;
  background: rgb(236, 236, 236); }
.grey { filter: grayscale(1); }
.legend { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; list-style: none; margin: .7rem 0; padding: 0;
  font-size: .875rem; }
.legend span { display: inline-block; width: 1.1em; height: 1.1em; border: 1px solid #666; border-radius: .2em;
  margin-right: .4em; vertical-align: -.15em; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; margin: 1rem 0; padding: 0;
  list-style: none; }
.cards > li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem;
  break-inside: avoid; }
.cards svg { display: block; width: 100%; height: auto; }
.cards img { max-width: 100%; height: auto; display: block; border-radius: .25rem; }
.mark { fill: var(--accent); stroke: var(--accent); }
.frame { fill: none; stroke: var(--line); }
.sure { font-weight: 600; font-variant-numeric: tabular-nums; }
.who { margin: .5rem 0 .2rem; font-size: .9375rem; }
.what { margin: 0; font-size: .8125rem; color: var(--soft); }
.guesses { display: flex; flex-wrap: wrap; gap: .8rem; margin: .5rem 0 0; }
.guesses figure { margin: 0; width: 12rem; }
.guesses figcaption { font-size: .8125rem; color: var(--soft); }
.piece { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem; margin: .8rem 0;
  break-inside: avoid; }
.piece img { border-radius: .25rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; margin: .5rem 0; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: inline-block; height: .7em; background: var(--accent); border-radius: .15em; min-width: 1px; }
.track { display: inline-block; width: 10rem; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--accent); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem; overflow-x: auto;
  font-size: .8125rem;
  white-space: pre-wrap; }
footer { margin-top: 3rem; font-size: .8125rem; color: var(--soft); }
@media print {
  :root { --ink: #000; --soft: #444; --paper: #fff; --card: #fff; --line: #bbb; --accent: #1f5f99; --bad: #a33c00; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  nav, summary { display: none; }
  svg.sheet { max-height: 20cm; }
  .cards { grid-template-columns: repeat(3, 1fr); }
  h2 { break-after: avoid; }
  .legend span, .bar, .sheet { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
