import { expect } from 'vitest'
import { isSallyportError } from '../../../src/errors.ts'
import { createCanaries } from './canaries.ts'
import { collecting } from './collecting.ts'

/** Puts a secret into an option: as itself, misspelt, in another type, or in the place of another. */
export type Place = (secret: string) => unknown

/** Expects an error at start-up that does not show the secret. */
export async function expectHidden(kind: string, put: Place): Promise<void> {
  const canaries = createCanaries()
  const { keep } = collecting(canaries)
  const secret = canaries.word(kind)
  let thrown: unknown
  try {
    await put(secret)
  } catch (error) {
    thrown = error
  }
  expect(isSallyportError(thrown), `${thrown}`).toBe(true)
  keep('start', thrown)
}
