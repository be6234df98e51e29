const WIDTH = 120

/** The text in lines of at most 120 characters where it has spaces outside code; later lines begin with the indentation. */
export function wrapped(text: string, indentation = ''): string {
  const words = text.match(/(?:`[^`]*`|[^\s`])+/g) ?? []
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = indentation + word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}
