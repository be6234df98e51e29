const VOID = new Set(['meta', 'link', 'br', 'hr', 'img', 'input'])
const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g

/** The faults of a page: tags that do not nest, attributes twice, bare `<`, `>` or `&`. Knows only quoted attributes. */
export function htmlFaults(html: string): readonly string[] {
  const faults: string[] = []
  const start = '<!doctype html>'
  if (!html.startsWith(start)) faults.push('no doctype')
  const open: string[] = []
  const texts: string[] = []
  let end = start.length
  const body = html.replace(/<style>[\s\S]*<\/style>/, (style) => `<style>${' '.repeat(style.length - 15)}</style>`)
  for (const { index, 0: tag, 1: closes, 2: name = '', 3: attributes = '' } of body.matchAll(TAG)) {
    texts.push(body.slice(end, index), ...[...attributes.matchAll(/"([^"]*)"/g)].map(([, value = '']) => value))
    end = index + tag.length
    const names = [...attributes.matchAll(/ ([a-z-]+)/g)].map(([, attribute]) => attribute)
    if (!closes && new Set(names).size < names.length) faults.push(`${tag} has an attribute twice`)
    if (closes) {
      if (open.pop() !== name) faults.push(`${tag} closes nothing`)
    } else if (!VOID.has(name)) open.push(name)
  }
  texts.push(body.slice(end))
  for (const text of texts)
    if (/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) faults.push(`bare markup in ${text.trim().slice(0, 80)}`)
  return [...faults, ...open.map((name) => `${name} is not closed`)]
}
