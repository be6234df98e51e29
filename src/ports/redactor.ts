/** Removes sensitive text before it is stored. */
export interface Redactor {
  /**
   * Returns the text to store or log. Must return equal results for equal texts; otherwise a repeated post changes its run. A
   * throw, a rejection or a result that does not fit its field refuses the whole post: 503 `redactor_unavailable`, and nothing is
   * stored; also after five seconds without a result. Lengths in characters: 1-100 for `error.type` and `error.code`, up to 2,000 for
   * `error.message`, up to 512 for metadata, up to 64 for a tag. An empty tag is dropped.
   *
   * @param field Source of the text: `error.type`, `error.message`, `error.code`, `tags`, or `metadata.<key>`.
   */
  redact(text: string, field: string): string | Promise<string>
}
