import { expect } from 'vitest'
import type { Sentence } from '../../src/console/app/sentences/sentence.ts'

export const SENTENCE: RegExp = /^[A-Z].+\.$/

/** Expects that a value has a sentence of its own, with the next step. */
export function isExplained(value: string, { means, next }: Sentence): void {
  expect(means).toMatch(SENTENCE)
  expect(means).not.toBe(`It is ${value}.`)
  expect(next).toMatch(SENTENCE)
}
