import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ALL_CALLS } from '../support/actions.ts'
import { ROOT } from '../support/entries.ts'

const page = readFileSync(new URL('docs/read-api.md', ROOT), 'utf8')

/** Rows of the table of paths. */
const rows = new Map(
  [...page.matchAll(/^\| `((?:POST )?\/api\/\S+)` \| (.+) \|$/gm)].map(([, place, text]) => [place, text]),
)

describe('the paths of the read API', () => {
  it('The page lists the paths of all actions that are calls of a service, and no other', () => {
    const places = ALL_CALLS.map(({ method, path }) => (method === 'POST' ? `POST ${path}` : path))
    expect([...rows.keys()].sort()).toEqual(places.sort())
  })

  it.each(ALL_CALLS)('The page names each parameter and member of $name', ({ method, path, query = {}, body = [] }) => {
    const text = rows.get(method === 'POST' ? `POST ${path}` : path) ?? ''
    const named = [...text.matchAll(/\w+/g)].map(([word]) => word)
    const paging = ['cursor', 'limit']
    expect(named).toEqual(
      expect.arrayContaining([...Object.keys(query), ...body].filter((name) => !paging.includes(name))),
    )
  })
})
