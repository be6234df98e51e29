import { Html, html } from './html.ts'

interface PageParts {
  /** BCP 47 tag. */
  readonly language: string
  /** Also the title. */
  readonly heading: Html
  /** Name above the heading. */
  readonly sender: string | undefined
  /** Content of the one `<style>` element, without `</style`. */
  readonly style: string
  /** Content after the heading. */
  readonly body: Html
}

/** A page in HTML, without scripts and external resources. */
export function htmlPage({ language, heading, sender, style, body }: PageParts): string {
  const isNamed = sender !== undefined && sender !== ''
  return `${html`<!doctype html>
<html lang="${language}" dir="${RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${heading}${isNamed ? html` – ${sender}` : undefined}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
${isNamed ? html`<p class="sender">${sender}</p>\n` : undefined}<h1>${heading}</h1>
${body}
</main>
</body>
</html>
`}`
}

const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(?:-|$)/i
