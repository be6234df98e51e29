import { type Refused, refuse } from '../core/answers/result.ts'
import type { OpenHead } from '../core/endpoints.ts'

/** True for a request that a page of another origin sent (Fetch Metadata). Browsers omit the header over plain HTTP. */
export function isOfOtherPage({ 'sec-fetch-site': site }: OpenHead['headers']): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

export function otherPageRefused(): Refused {
  return refuse('insufficient_scope', 'The request must come from a page of this console.')
}
