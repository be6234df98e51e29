/**
 * Breaks a text between words, not within code, into lines of at most `width` characters where it has spaces. Later lines begin with the
 * indentation.
 */
export function wrapped(text: string, indentation = '', width = 120): string {
  const lines: string[] = []
  for (const word of text.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(last === undefined ? word : indentation + word)
  }
  return lines.join('\n')
}
