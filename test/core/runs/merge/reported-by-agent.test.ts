import { expect, it } from 'vitest'
import { viewRun } from '../../../../src/core/runs/merge/selectors.ts'
import type { Run } from '../../../../src/model/run.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'
import { type Posted, recordPosts } from '../recorded.ts'
import { stillClock } from '../recorder.ts'
import { postFields, prices, reported } from '../sessions/generated-posts.ts'

const text = fc.constantFrom('x', 'y')
const optional = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) => fc.record(fields, { requiredKeys: [] })

/** The fields that {@link postFields} lacks. */
const otherFields = optional({
  ...{ responseModel: text, serviceTier: text, environment: text, finishReason: text, usageDoubt: fc.boolean() },
  status: fc.constantFrom('waiting', 'incomplete'),
  waitingFor: fc.constantFrom('input', 'tool'),
  agent: optional({ id: text, name: text, version: text }),
  error: fc.record({ type: text, message: text }),
  trace: fc.record({ traceId: text, spanId: text }),
  tags: fc.subarray(['t', 'u']),
  metadata: fc.dictionary(
    fc.constantFrom('approved', 'a/b', 'a~1b', 'a.b', '~', '', 'toString', 'constructor'),
    fc.constantFrom(null, 0, 1, false, 'x'),
    { maxKeys: 3 },
  ),
})

/** Fields that a source never changes. */
const fixedFields = optional({ parentRunId: text, resumedFromRunId: text, attempt: fc.constantFrom(1, 2) })
const agentUser = fc.constantFrom(undefined, 'ann', 'cleo')

/** Posts of both sources about one run, in random order. */
const sequences = fc
  .tuple(
    ...[fixedFields, fixedFields, agentUser],
    fc.array(fc.tuple(postFields, otherFields, fc.boolean()), { minLength: 1, maxLength: 6 }),
  )
  .map(([ofApplication, ofAgent, userId, posts]) =>
    posts.map(([fields, others, isAgent]): Posted => {
      const post = isAgent ? { ...fields, ...others, ...ofAgent, userId } : { ...fields, ...others, ...ofApplication }
      return { update: reported('r', undefined, post), source: isAgent ? 'agent' : 'application' }
    }),
  )

/** What a run shows of its posts. `undefined`: no run. */
async function statedBy(posts: readonly Posted[]): Promise<Partial<Run> | undefined> {
  const [stored] = await recordPosts(memoryStore({ clock: stillClock() }), posts, prices)
  if (!stored) return undefined
  const { runId, sessionId, createdAt, updatedAt, lastSeenAt, revision, by, ...stated } = viewRun(stored)
  return stated
}

/** All values by JSON pointer: objects, lists and what is in them. */
function valuesOf(value: unknown, at = ''): readonly (readonly [pointer: string, value: unknown])[] {
  if (typeof value !== 'object' || value === null) return [[at, value]]
  const members = Object.entries(value).flatMap(([name, member]) =>
    valuesOf(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
  return [[at, value], ...members]
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null

it(
  'A value is marked as of an agent if, and only if, the run would not show it without the agent',
  async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(sequences, async (posts) => {
        const { byAgent = [], ...shown } = (await statedBy(posts)) ?? {}
        const alone = new Map(valuesOf((await statedBy(posts.filter(({ source }) => source === 'application'))) ?? {}))
        const values = new Map(valuesOf(shown))
        for (const pointer of byAgent) {
          expect(values.get(pointer)).toBeDefined()
          expect([pointer, alone.get(pointer)]).not.toEqual([pointer, values.get(pointer)])
          seen.add(pointer)
        }
        const isMarked = (at: string): boolean => byAgent.some((each) => at === each || at.startsWith(`${each}/`))
        for (const [at, value] of values)
          if (isLeaf(value) && value !== alone.get(at)) expect([at, isMarked(at)]).toEqual([at, true])
        // A host looks up a field, or a member of these three, by its own pointer.
        const isField = /^\/((agent|timings|metadata)\/[^/]*|(?!(agent|timings|metadata)$)[^/]+)$/
        expect(byAgent.filter((pointer) => !isField.test(pointer))).toEqual([])
        expect(new Set(byAgent).size).toBe(byAgent.length)
      }),
      { numRuns: runs(20_000) },
    )
    expect([...seen]).toEqual(expect.arrayContaining(['/status', '/cost', '/metadata/a~1b', '/agent/id', '/tags']))
  },
  TIMEOUT_MS,
)
