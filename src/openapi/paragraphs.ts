/** Joins lines to paragraphs of Markdown. */
export function paragraphs(...texts: readonly (readonly string[])[]): string {
  return texts.map((lines) => lines.join(' ')).join('\n\n')
}
