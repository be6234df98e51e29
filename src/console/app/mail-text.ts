/**
 * Rewrites an untrusted mail as HTML that a parser reads in one way only: tags and attributes that a mail needs, and text. A browser checks
 * an `onclick` against the policy while it parses, so what the policy blocks must be gone before. One pass, in linear time.
 */
export function mailText(html: string): string {
  const written: string[] = []
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    const end = open < 0 ? html.length : open
    written.push(html.slice(at, end))
    at = end
    if (open >= 0) at = markup(html, open, written)
  }
  return written.join('')
}

/** Content that is no markup. It is removed; of a style, its text stays. */
const RAW = ['script', 'style', 'title', 'xmp', 'noembed', 'noframes', 'iframe']

/** Tags that are removed. Their content stays: text inside a video is for readers who cannot see it. */
const REMOVED = new Set(
  'script title xmp noembed noframes noscript plaintext textarea meta base link form svg math template frame frameset source track'.split(
    ' ',
  ),
)

/** Elements that would load something, by what to call it instead. */
const LOADING: Readonly<Record<string, string>> = {
  img: 'image',
  image: 'image',
  video: 'video',
  audio: 'sound',
  iframe: 'frame',
  object: 'object',
  embed: 'object',
}

const ATTRIBUTES = new Set(
  'align alt bgcolor border cellpadding cellspacing class color colspan dir face height hspace id lang nowrap role rowspan scope size start style summary title type valign value vspace width'.split(
    ' ',
  ),
)

/** Handles the markup at `open`, and gives the place after it. */
function markup(html: string, open: number, written: string[]): number {
  if (html.startsWith('<!--', open)) return after(html, /--!?>/g, open + 2)
  TAG.lastIndex = open
  const [tag = '', slash, spelled = ''] = TAG.exec(html) ?? []
  if (spelled === '') {
    if (/[!?/]/.test(html[open + 1] ?? '')) return after(html, />/g, open)
    written.push('&lt;')
    return open + 1
  }
  const name = spelled.toLowerCase()
  const { attributes, end } = attributesAt(html, open + tag.length)
  const isOpening = slash === ''
  if (isOpening) written.push(openingTag(name, attributes))
  else if (/^[a-z]\w*$/.test(name) && !REMOVED.has(name) && LOADING[name] === undefined) written.push(`</${name}>`)
  if (!isOpening || !RAW.includes(name)) return end
  const closing = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  closing.lastIndex = end
  const close = closing.exec(html)?.index ?? html.length
  if (name === 'style') written.push(styleText(html.slice(end, close)))
  return close
}

const TAG = /<(\/?)([a-z][^\t\n\f\r />]*)/iy

/** One attribute, as the HTML standard reads it: a quote begins a value only after `=`. */
const ATTRIBUTE =
  /[\t\n\f\r /]*(=?[^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"?|'([^']*)'?|([^\t\n\f\r >]*)))?/y

type Attributes = ReadonlyMap<string, string>

function attributesAt(html: string, from: number): { readonly attributes: Attributes; readonly end: number } {
  const attributes = new Map<string, string>()
  let at = from
  while (at < html.length && html[at] !== '>') {
    ATTRIBUTE.lastIndex = at
    const [whole = '', spelled = '', double, single, bare] = ATTRIBUTE.exec(html) ?? []
    const name = spelled.toLowerCase()
    if (!attributes.has(name)) attributes.set(name, double ?? single ?? bare ?? '')
    at += Math.max(1, whole.length)
  }
  return { attributes, end: at + 1 }
}

function openingTag(name: string, attributes: Attributes): string {
  const loaded = LOADING[name]
  if (loaded !== undefined) {
    const source = name === 'img' ? (attributes.get('src') ?? '') : ''
    return `<img${written('alt', attributes.get('alt') || loaded)}${written('src', source)}>`
  }
  if (REMOVED.has(name) || !/^[a-z]\w*$/.test(name)) return ''
  const kept = [...attributes].filter(([attribute]) => ATTRIBUTES.has(attribute))
  // A reader may want to know where a link leads; it opens nothing.
  const link = attributes.get('href')
  const shown = link === undefined ? kept : [...kept.filter(([attribute]) => attribute !== 'title'), ['title', link]]
  return `<${name}${shown.map(([attribute = '', value = '']) => written(attribute, value)).join('')}>`
}

function written(name: string, value: string): string {
  return ` ${name}="${value.replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"`
}

/** CSS without the character that could end its element. */
function styleText(css: string): string {
  return css.replaceAll('<!--', '').replaceAll('<', '\\3c ')
}

function after(html: string, end: RegExp, from: number): number {
  end.lastIndex = from
  return end.exec(html) ? end.lastIndex : html.length
}
