import { CONSOLE_ASSETS } from 'sallyport:console-assets'
import type { Granted } from './console-options.ts'

/**
 * The only document: its script reads the path and shows a screen. All its URLs are relative to `base`.
 *
 * @param offers The screens' reads that this host offers: one without dispatching has no dispatches.
 */
export function pageOf(
  base: string,
  title: string,
  { access, user, tenant }: Granted,
  offers: readonly string[],
): string {
  const { script, style } = CONSOLE_ASSETS
  const data = { title, access, user, tenant, offers: offers.join(' ') }
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<base href="${escapeHtml(base)}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body${attributes.join('')}>
<div id="app"><noscript>The console needs JavaScript.</noscript></div>
</body>
</html>
`
}

/** The frame in which a mail is shown. Its own script puts the mail there; no script of the mail runs. */
export function previewOf(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Preview</title>
</head>
<body><script>${CONSOLE_ASSETS.preview.script}</script></body>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
