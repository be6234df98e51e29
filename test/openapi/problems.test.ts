import { describe, expect, it } from 'vitest'
import type { ProblemCode } from '../../src/errors.ts'
import { type Fit, misfits } from './lint.ts'
import { ALL_POSTS, document, headersOf, jsonOf, responseOf } from './posting.ts'
import { PROVOKE } from './problems.ts'

const TYPE = 'application/problem+json'
const PROBLEM = { $ref: '#/components/schemas/Problem' }

/** `<path> <status> <code>` for every code that the document has. */
const documented = ALL_POSTS.flatMap(({ path }) =>
  Object.keys(document.paths[path]?.post?.responses ?? {}).flatMap((status) =>
    codesAt(path, Number(status)).map((code) => `${path} ${status} ${code}`),
  ),
)

function codesAt(path: string, status: number): readonly ProblemCode[] {
  const { schema } = responseOf(document, path, status).content?.[TYPE] ?? {}
  return schema ? Object(schema).allOf[1].properties.code.enum : []
}

/** The requests for every code, sent to every endpoint. */
const CODES = Object.keys(PROVOKE) as (keyof typeof PROVOKE)[]
const trials = ALL_POSTS.flatMap(({ name: action, path }) => CODES.map((code) => ({ action, path, code })))

describe('the problems of the document', () => {
  const answered = new Set<string>()
  const fits: Fit[] = []

  it.each(trials)(
    '$path answers only documented problems to the request that provokes $code',
    async ({ action, path, code }) => {
      const answer = await PROVOKE[code](action)
      const body = await jsonOf(answer)
      if (answer.ok) return
      expect(documented).toContain(`${path} ${answer.status} ${body.code}`)
      expect([body.status, answer.headers.get('content-type')]).toEqual([answer.status, TYPE])

      const described = responseOf(document, path, answer.status)
      const { may, must } = headersOf(document, described)
      const sent = [...answer.headers.keys()].filter(
        (name) => !/^(?:content-type|content-length|connection)$/.test(name),
      )
      expect(may).toEqual(expect.arrayContaining(sent))
      expect(sent).toEqual(expect.arrayContaining(must))

      const { schema = {}, examples = {} } = described.content?.[TYPE] ?? {}
      fits.push({ schema, value: body }, { schema: PROBLEM, value: body })
      if (body.code !== code) return
      answered.add(`${path} ${answer.status} ${code}`)
      const shown = Object.keys(examples).map((name) => document.components.examples[name]?.value)
      expect(shown).toContainEqual(body)
    },
  )

  it('A real host answers every documented problem', () => {
    expect(documented.length).toBeGreaterThan(50)
    expect([...answered].sort()).toEqual([...documented].sort())
  })

  it('Every problem fits its schema, without other fields', async () => {
    expect(await misfits(fits, 'known')).toEqual(new Map())
  })

  it('The schemas of problems refuse other values', async () => {
    const body = await jsonOf(await PROVOKE.unauthorized('dispatch'))
    const { schema = {} } = responseOf(document, '/api/outbound/dispatch', 401).content?.[TYPE] ?? {}
    const { requestId, ...less } = body
    const wrong = [{ ...body, status: 403 }, { ...body, code: 'not_found' }, less]
    const all = [...wrong.map((value) => ({ schema, value })), { schema: PROBLEM, value: { ...body, more: 1 } }]
    expect((await misfits(all, 'known')).size).toBe(all.length)
  })
})
