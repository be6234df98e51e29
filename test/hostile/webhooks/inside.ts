import { onTestFinished } from 'vitest'
import { type Canary, openCanary } from './canary.ts'

/** Opens a canary for one test. */
export async function canary(): Promise<Canary> {
  const opened = await openCanary()
  onTestFinished(() => opened.close())
  return opened
}
