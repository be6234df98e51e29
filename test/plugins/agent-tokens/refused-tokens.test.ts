import { expect, it } from 'vitest'
import type { Principal } from '../../../src/model/principal.ts'
import { refusedTokens } from '../../../src/plugins/agent-tokens/refused-tokens.ts'

const MINUTE = 60_000

const child = (id: string, root = 'root', tenant = 't'): Principal => ({
  ...{ id, tenant, sessionId: 's' },
  parents: [{ id: 'middle' }, { id: root }],
})

/** Refuses 20 tokens below a root, which is the most that are listed by themselves. */
function filled() {
  const tokens = refusedTokens(MINUTE)
  for (let at = 0; at < 20; at++) expect(tokens.idOf(child(`c${at}`), 0)).toBe(`c${at}`)
  return tokens
}

it('Refusals of the first 20 tokens below one are listed by themselves, and later ones under the first', () => {
  const tokens = filled()
  expect(tokens.idOf(child('c20'), 0)).toBe('root')
  expect(tokens.idOf(child('c19'), MINUTE - 1)).toBe('c19')
  expect(tokens.idOf({ id: 'root', tenant: 't', sessionId: 's' }, 0)).toBe('root')
})

it('Tokens of another root and of another tenant have room of their own', () => {
  const tokens = filled()
  expect(tokens.idOf(child('c20', 'other'), 0)).toBe('c20')
  expect(tokens.idOf(child('c20', 'root', 'u'), 0)).toBe('c20')
})

it('A new window begins when one has ended', () => {
  expect(filled().idOf(child('c20'), MINUTE - 1)).toBe('root')
  expect(filled().idOf(child('c20'), MINUTE)).toBe('c20')
})
