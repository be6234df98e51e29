/** Whether every store can keep a text: databases refuse a NUL and half a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
