import { expect } from 'vitest'

/** Fails when a promise was rejected and nobody looked. */
export async function withoutStrayRejections<T>(run: () => Promise<T>): Promise<T> {
  const stray: unknown[] = []
  const note = (reason: unknown) => void stray.push(reason)
  process.on('unhandledRejection', note)
  try {
    const result = await run()
    await new Promise(setImmediate)
    expect(stray).toEqual([])
    return result
  } finally {
    process.off('unhandledRejection', note)
  }
}
