/** Headers of every answer to a link: not cached, not indexed, and without a referrer, which would hold the link. */
export const LINK_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
} as const

/** Content-Security-Policy that allows only this style, and the form to post to its own origin. */
export async function contentSecurityPolicy(style: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)))
  const rules = ["default-src 'none'", `style-src 'sha256-${hash}'`, "form-action 'self'", "base-uri 'none'"]
  return [...rules, "frame-ancestors 'none'"].join('; ')
}
