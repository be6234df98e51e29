import { describe, expect, it } from 'vitest'
import { answerOf, NOW, problemOf, recorder, runOf } from '../recorder.ts'

/** Posts about one run in order; gives the last answer. */
async function posted(...posts: readonly object[]): Promise<ReturnType<typeof answerOf>> {
  const { post } = recorder()
  let answer = answerOf(await post({ runId: 'r1', ...posts[0] }))
  for (const each of posts.slice(1)) answer = answerOf(await post({ runId: 'r1', ...each }))
  return answer
}

describe('ids that are set once', () => {
  it.each([
    ['parentRunId', 'p1'],
    ['resumedFromRunId', 'p1'],
    ['attempt', 2],
  ])('The field %s is set once, by any post, and setting it is a change', async (field, value) => {
    expect(await posted({ [field]: value }, { model: 'm' })).toMatchObject({ changed: true, run: { [field]: value } })
    expect(await posted({ model: 'm' }, { [field]: value })).toMatchObject({ changed: true, run: { [field]: value } })
    expect(await posted({ [field]: value }, { [field]: value })).toMatchObject({ changed: false })
  })

  it('An id that was never posted is absent', async () => {
    const { run = {} } = await posted({ model: 'm' }, { model: 'n' })
    for (const field of ['parentRunId', 'resumedFromRunId', 'attempt', 'seq']) expect(run).not.toHaveProperty(field)
  })
})

describe('a later post with the same values', () => {
  it('A later post with the same values changes only the seq', async () => {
    expect(await posted({ seq: 1, model: 'm' }, { seq: 2 })).toMatchObject({
      changed: true,
      run: { seq: 2, model: 'm' },
    })
  })
})

describe('ignored final fields', () => {
  it('An ignored final field is listed with the kept value', async () => {
    const first = { status: 'failed', seq: 2, timings: { endedAt: NOW - 1_000, durationMs: 5 }, finishReason: 'stop' }
    const second = { status: 'failed', seq: 1, timings: { endedAt: NOW, durationMs: 9 }, finishReason: 'length' }
    const { ignored } = await posted(first, second)
    expect(ignored).toEqual([
      { field: 'timings.endedAt', reason: 'superseded', kept: '2026-11-21T07:59:59.000Z' },
      { field: 'timings.durationMs', reason: 'superseded', kept: 5 },
      { field: 'finishReason', reason: 'superseded', kept: 'stop' },
    ])
  })

  it('An ignored final field is listed without a value if none is kept', async () => {
    const { ignored } = await posted(
      { status: 'completed', seq: 2 },
      { status: 'failed', seq: 1, finishReason: 'stop' },
    )
    expect(ignored.find(({ field }) => field === 'finishReason')).toStrictEqual({
      field: 'finishReason',
      reason: 'superseded',
    })
  })
})

describe('days of instants', () => {
  const startedAt = async (text: string): Promise<string | undefined> =>
    runOf(await recorder().post({ runId: 'r1', timings: { startedAt: text } })).timings?.startedAt

  it.each(['2025-04-30', '2025-06-30', '2025-09-30', '2025-11-30', '2025-12-31', '2000-02-29', '2024-02-29'])(
    'The day %s is valid as the last of its month, and the next one is not',
    async (day) => {
      expect(await startedAt(`${day}T00:00:00Z`)).toBe(`${day}T00:00:00.000Z`)
      const next = day.replace(/\d\d$/, (last) => String(Number(last) + 1))
      const refused = await recorder().post({ runId: 'r1', timings: { startedAt: `${next}T00:00:00Z` } })
      expect(problemOf(refused).errors).toMatchObject([{ code: 'format' }])
    },
  )

  it.each(['2100-02-29', '2025-02-29'])('The day %s is refused', async (day) => {
    const refused = await recorder().post({ runId: 'r1', timings: { startedAt: `${day}T00:00:00Z` } })
    expect(problemOf(refused).errors).toMatchObject([{ code: 'format' }])
  })

  it('An instant keeps milliseconds and applies its offset', async () => {
    expect(await startedAt('2026-11-21T08:00:00.5+01:00')).toBe('2026-11-21T07:00:00.500Z')
    expect(await startedAt('2026-11-21T06:00:00.25-01:30')).toBe('2026-11-21T07:30:00.250Z')
    expect(await startedAt('2026-11-21T07:00:00.123456789Z')).toBe('2026-11-21T07:00:00.123Z')
  })
})
