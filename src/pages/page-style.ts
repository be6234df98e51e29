/** Style of every page: light and dark, from 320 pixels. */
export const PAGE_STYLE = `:root{color-scheme:light dark;--text:#1b1f24;--back:#ffffff;--muted:#59636e;--button:#0b57d0;--label:#ffffff}
@media (prefers-color-scheme:dark){:root{--text:#f0f3f6;--back:#0d1117;--muted:#9ba6b2;--button:#8ab4f8;--label:#0d1117}}
*{box-sizing:border-box}
body{margin:0;padding:2rem 1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
main{max-width:32rem;margin:0 auto;overflow-wrap:anywhere}
h1{margin:0 0 1rem;font-size:1.5rem;line-height:1.25}
p,form{margin:0 0 1rem}
button{display:block;width:100%;min-height:2.75rem;margin:0 0 .75rem;padding:.5rem 1rem;font:inherit;color:var(--label);background:var(--button);border:2px solid var(--button);border-radius:.5rem;cursor:pointer;overflow-wrap:anywhere}
button.second{color:var(--button);background:var(--back)}
button:focus-visible{outline:3px solid var(--text);outline-offset:2px}
.sender,.note{color:var(--muted)}`

/** The style of a page, followed by the rules of the host. Line breaks are those that an HTML parser reads, so that its hash is the browser's. */
export function styleOf(style: string, css: string | undefined): string {
  return css === undefined ? style : `${style}\n${css.replaceAll(/\r\n?/g, '\n')}`
}
