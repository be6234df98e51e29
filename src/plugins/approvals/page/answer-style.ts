/** Style of the answer page, after that of every page: light and dark, from 320 pixels. Nothing scrolls on its own or is cut. */
export const ANSWER_STYLE = `:root{--problem:#b3261e;--line:#8c959f;--mark:#fff8c5}
@media (prefers-color-scheme:dark){:root{--problem:#ff9d94;--line:#6e7681;--mark:#3b2e00}}
[hidden]{display:none}
main{max-width:44rem}
h2{margin:2rem 0 .5rem;font-size:1.2rem;line-height:1.25}
a{color:inherit}
dl{margin:0 0 1rem}
dt,.hint,thead th{color:var(--muted)}
dd{margin:0 0 .5rem}
ul{margin:0 0 1rem;padding-inline-start:1.25rem}
.text,td,th{white-space:pre-wrap}
.message{padding-inline-start:.75rem;border-inline-start:4px solid var(--line)}
pre{margin:0 0 1rem;padding:.75rem;font:.875rem/1.5 ui-monospace,monospace;white-space:pre-wrap;border:1px solid var(--line);border-radius:.5rem}
code{font:.875rem/1.5 ui-monospace,monospace;white-space:pre-wrap}
table{width:100%;margin:0 0 1rem;border-collapse:collapse}
th,td{padding:.375rem .5rem;text-align:start;vertical-align:top;border:1px solid var(--line)}
th{font-weight:600}
thead th{overflow-wrap:normal}
.mark{padding:0 .2em;font:.75em/1 ui-monospace,monospace;color:var(--text);background:var(--mark);border:1px solid var(--text);border-radius:.2em}
.field,fieldset{margin:0 0 1rem;padding:0;border:0}
fieldset{min-width:0}
label,legend{padding:0;font-weight:600}
.choice{display:flex;gap:.5rem;align-items:baseline;padding:.375rem 0;font-weight:400}
.choice input{flex:none}
.hint{margin:0;white-space:pre-wrap}
.need{font-weight:400;color:var(--muted)}
input:not([type=radio],[type=checkbox]),textarea{display:block;width:100%;min-height:2.75rem;margin:.25rem 0 0;padding:.5rem;font:inherit;color:var(--text);background:var(--back);border:1px solid var(--line);border-radius:.5rem}
textarea{min-height:6rem;resize:vertical}
input:focus-visible,textarea:focus-visible,a:focus-visible{outline:3px solid var(--text);outline-offset:2px}
.problem{margin:.25rem 0 0;color:var(--problem)}
.problems{margin:0 0 1rem;padding:.75rem 1rem;border:2px solid var(--problem);border-radius:.5rem}
.problems p,.problems ul{margin:0}
[aria-invalid=true]{border-color:var(--problem)!important}
[role=status]{font-size:1.125rem}`
