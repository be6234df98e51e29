/** Takes out of texts what must not be kept. */
export interface Redactor {
  /**
   * Gives what may be kept of a text, before anything is stored or logged: equal for equal texts, or a post that is repeated
   * changes its run. A throw, a rejection, or anything but a text that fits where it came from refuses the whole post: 503
   * `redactor_unavailable`, and nothing is kept. It has no time limit: give it one of your own. What fits, in characters:
   * 1-100 in `error.type` and `error.code`, up to 2,000 in `error.message`, up to 512 in metadata, up to 64 in a tag, where none
   * is left of an empty one.
   *
   * @param field Where the text comes from: `error.type`, `error.message`, `error.code`, `tags`, or `metadata.<key>`.
   */
  redact(text: string, field: string): string | Promise<string>
}
