/** True for a request that a page of another origin sent (Fetch Metadata). Browsers omit the header over plain HTTP. */
export function isOfOtherPage({ 'sec-fetch-site': site }: { readonly 'sec-fetch-site'?: unknown }): boolean {
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}
