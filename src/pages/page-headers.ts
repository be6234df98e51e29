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

/** A rendered page. */
interface Page {
  /** BCP 47 tag. */
  readonly language: string
  readonly html: string
}

/** An answer with a page. */
export interface PageAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Creates the function that answers with pages of one style. 503 asks to try again in a second. */
export function pageAnswers({
  style,
}: {
  readonly style: string
}): (status: number, page: Page) => Promise<PageAnswer> {
  let policy: Promise<string> | undefined
  return async (status, { language, html }) => {
    policy ??= contentSecurityPolicy(style)
    const headers = {
      ...LINK_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-language': language,
      vary: 'accept-language',
      'content-security-policy': await policy,
      ...(status === 503 && RETRY),
    }
    return { status, headers, text: html }
  }
}

/** Header of an answer after which a repetition may succeed. */
export const RETRY = { 'retry-after': '1' } as const

/** The text of a request header; several are joined. */
export function headerText(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.join(',') ?? '')
}
