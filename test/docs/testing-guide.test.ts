import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { RegisterTest } from 'sallyport/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { documented } from '../support/documented.ts'
import { ROOT } from '../support/entries.ts'

const folder = fileURLToPath(new URL('test/docs/.snippets-testing/', ROOT))
mkdirSync(folder, { recursive: true })
writeFileSync(`${folder}contract.ts`, documented('docs/testing.md', 'export function tryStore'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { tryStore }: { tryStore(test: RegisterTest): void } = await import(/* @vite-ignore */ `${folder}contract.ts`)

describe('the contract of docs/testing.md', () => {
  let cases = 0
  tryStore((name, body) => {
    cases += 1
    it(name, body)
  })

  it('The contract of docs/testing.md has more than 50 cases', () => expect(cases).toBeGreaterThan(50))
})
