import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { DERIVED } from './derived.ts'

it.each(Object.entries(DERIVED))('%s is as `npm run derive` writes it', (path, derived) => {
  const text = readFileSync(new URL(path, ROOT), 'utf8')
  expect(derived(text)).toBe(text)
})
