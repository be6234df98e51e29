import { expect, it } from 'vitest'
import { ALL_CALLS, ALL_DESCRIPTIONS, ALL_POST_DESCRIPTIONS, ALL_POSTS } from '../support/actions.ts'

it.each([
  ['that are calls of a service', ALL_CALLS, ALL_DESCRIPTIONS],
  ['that read their bodies themselves', ALL_POSTS, ALL_POST_DESCRIPTIONS],
])('All actions %s are described, and nothing else is', (_, actions, descriptions) => {
  expect(Object.keys(descriptions).sort()).toEqual(actions.map(({ name }) => name).sort())
})

it('No two actions have a name or a place in common', () => {
  const actions = [...ALL_POSTS, ...ALL_CALLS]
  expect(new Set(actions.map(({ name }) => name)).size).toBe(actions.length)
  expect(new Set(actions.map(({ method, path }) => `${method} ${path}`)).size).toBe(actions.length)
})
