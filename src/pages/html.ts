/** HTML that is safe to insert into a page. {@link html} makes it. */
export class Html {
  readonly #text: string

  /** @param text Markup of the program itself: it is not escaped. */
  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

/** A value to insert: a text is escaped, a list is joined, `undefined` is nothing. */
export type HtmlPart = Html | string | undefined | readonly HtmlPart[]

/** Tag of a template literal: escapes every inserted text. */
export function html(markup: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(markup.map((text, index) => `${text}${htmlOf(parts[index])}`).join(''))
}

/** Escapes a text of the host or of a translation, and replaces each `{name}` that `parts` has. Inserted parts are not searched again. */
export function filled(text: string, parts: Readonly<Record<string, HtmlPart>>): Html {
  const pieces = text.split(/(\{\w+\})/)
  return html`${pieces.map((piece) => {
    const name = piece.slice(1, -1)
    return piece.startsWith('{') && Object.hasOwn(parts, name) ? parts[name] : piece
  })}`
}

function htmlOf(part: HtmlPart): string {
  if (part instanceof Html) return part.toString()
  if (typeof part === 'string') return escapeHtml(part)
  return part === undefined ? '' : part.map(htmlOf).join('')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
