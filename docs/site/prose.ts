/** Markdown without its blocks of code. */
export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '')
}

/** Markdown without code, but for code that is the text of a link. */
export function proseOf(markdown: string): string {
  return withoutBlocks(markdown).replaceAll(/`[^`\n]*`(?!\])/g, '')
}

/** The texts of the headings, without backticks. */
export function headingsOf(markdown: string): readonly string[] {
  return [...withoutBlocks(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''))
}
