import { expect, it } from 'vitest'
import { CALL_DESCRIPTIONS } from '../../src/actions/describe.ts'
import { POST_DESCRIPTIONS } from '../../src/actions/describe-posts.ts'
import { CALLS, POSTS } from '../../src/actions/table.ts'

it.each([
  ['that are calls of a service', CALLS, CALL_DESCRIPTIONS],
  ['that read their bodies themselves', Object.values(POSTS), POST_DESCRIPTIONS],
])('All actions %s are described, and nothing else is', (_, actions, descriptions) => {
  expect(Object.keys(descriptions).sort()).toEqual(actions.map(({ name }) => name).sort())
})

it('No two actions have a name or a place in common', () => {
  const actions = [...Object.values(POSTS), ...CALLS]
  expect(new Set(actions.map(({ name }) => name)).size).toBe(actions.length)
  expect(new Set(actions.map(({ method, path }) => `${method} ${path}`)).size).toBe(actions.length)
})
