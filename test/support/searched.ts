import { vi } from 'vitest'

/** The number of characters that regular expressions search during some work, each time one is applied. */
export function searchedBy(work: () => unknown): number {
  const { exec } = RegExp.prototype
  let characters = 0
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text) {
    characters += text.length
    return exec.call(this, text)
  })
  try {
    work()
  } finally {
    spy.mockRestore()
  }
  return characters
}
