import { expect } from 'vitest'

/** Notes promises that are rejected without anybody looking. What it gives stops that, and fails when there were any. */
export function watchStrayRejections(): () => Promise<void> {
  const stray: unknown[] = []
  const note = (reason: unknown) => void stray.push(reason)
  process.on('unhandledRejection', note)
  return async () => {
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(stray).toEqual([])
  }
}

/** Fails when a promise was rejected and nobody looked. */
export async function withoutStrayRejections<T>(run: () => Promise<T>): Promise<T> {
  const check = watchStrayRejections()
  try {
    return await run()
  } finally {
    await check()
  }
}
