import { CONSOLE_ASSETS } from 'sallyport:console-assets'
import type { OpenAnswer } from '../core/endpoints.ts'

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'none'",
].join('; ')

/**
 * A preview has an origin of its own, so it can load nothing with the host's cookies: its one script is inline, allowed by its hash.
 * Only images within the mail are shown, so that the sender cannot count views.
 */
const PREVIEW_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  `script-src 'sha256-${CONSOLE_ASSETS.preview.hash}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  "frame-ancestors 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

type Headers = Readonly<Record<string, string>>

const COMMON: Headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // A script of another site could otherwise tell by loading a file whether this user has access.
  'cross-origin-resource-policy': 'same-origin',
}

export const PAGE_HEADERS: Headers = {
  ...COMMON,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

export const PREVIEW_HEADERS: Headers = {
  ...COMMON,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PREVIEW_POLICY,
  'cache-control': 'no-store',
}

const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** An answer that a browser must not show as a page. */
export function asData(answer: OpenAnswer): OpenAnswer {
  return { ...answer, headers: { ...answer.headers, ...COMMON, 'content-security-policy': DATA_POLICY } }
}

const TYPES: Headers = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** The name of a file has the hash of its content, so a browser keeps it. */
export function assetHeaders(name: string): Headers {
  return {
    ...COMMON,
    'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/plain',
    'cache-control': 'private, max-age=31536000, immutable',
  }
}
