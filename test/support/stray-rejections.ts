import { expect } from 'vitest'

/** Records unhandled rejections. The returned function stops that, and fails if there were any. */
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

/** Fails if a promise rejection stays unhandled. */
export async function withoutStrayRejections<T>(run: () => Promise<T>): Promise<T> {
  const check = watchStrayRejections()
  try {
    return await run()
  } finally {
    await check()
  }
}
