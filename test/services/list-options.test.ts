import { describe, expect, it } from 'vitest'
import { joinData } from '../../src/compose/plugin-data.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { CLIENT_STATUSES } from '../../src/core/runs/status-names.ts'
import { createDispatches } from '../../src/services/dispatches.ts'
import type { RunListOptions } from '../../src/services/runs.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { allPages, app, optionProblems } from '../core/runs/test-app.ts'

describe('options of a list of runs', () => {
  const problemsOf = (options: unknown) => optionProblems(() => app().runs.list(options as RunListOptions))

  it('All list options are checked, and all problems are reported at once', async () => {
    const wrong = {
      colour: 'red',
      tenant: 'ten ant',
      sessionId: 1,
      status: 'done',
      provider: null,
      model: ['gpt-6'],
      userId: {},
      tag: true,
      since: '2026-11-21',
      until: Number.NaN,
      first: 'latest',
      limit: 1.5,
      cursor: 7,
    }
    const problems = await problemsOf(wrong)
    expect(problems.map((problem) => 'field' in problem && problem.field).sort()).toEqual(Object.keys(wrong).sort())
    expect(problems).toEqual(
      expect.arrayContaining([
        { field: 'colour', detail: expect.stringContaining('is not an option') },
        { field: 'tenant', detail: 'must be 1-200 visible ASCII characters' },
        {
          field: 'sessionId',
          detail: 'is a number; must be a string of 1 to 2,048 characters, with no NUL and no half of a surrogate pair',
        },
        { field: 'status', detail: `must be one of ${CLIENT_STATUSES.join(', ')}, expired` },
        { field: 'since', detail: 'is a string; must be a Date, or epoch milliseconds' },
        { field: 'until', detail: 'is NaN; must be a Date, or epoch milliseconds' },
        { field: 'first', detail: 'must be one of oldest, newest' },
        { field: 'limit', detail: 'is 1.5; must be a whole number from 1 to 500' },
        { field: 'cursor', detail: 'is a number; must be the nextCursor of a page of this list' },
      ]),
    )
  })

  it('An unknown list option is reported with the known names', async () => {
    expect(await problemsOf({ sesionId: 's1' })).toEqual([
      { field: 'sesionId', detail: 'is not an option; near: sessionId' },
    ])
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const options = JSON.parse(`{"${name}":"x"}`)
      expect(await problemsOf(options)).toEqual([
        expect.objectContaining({ field: name, detail: expect.stringMatching(/^is not an option/) }),
      ])
    }
  })

  it.each([0, -1, 501, 1.5, '10', Number.NaN, Number.POSITIVE_INFINITY, null, 10n])(
    'runs.list refuses the limit %s',
    async (limit) => {
      expect(await problemsOf({ limit })).toEqual([{ field: 'limit', detail: expect.stringContaining('1 to 500') }])
    },
  )

  it.each([null, 'x', 5, ['a'], () => {}])('runs.list refuses the options %s', async (options) => {
    expect(await problemsOf(options)).toEqual([{ detail: expect.stringContaining('must be an object of options') }])
  })

  it('Inherited list options are read and checked too', async () => {
    const { runs, post } = app()
    await post({ runId: 'r1' })
    expect((await runs.list(Object.create({ status: 'failed' }))).items).toHaveLength(0)
    const problems = await optionProblems(() => runs.list(Object.create({ limit: 1_000_000 })))
    expect(problems).toEqual([{ field: 'limit', detail: 'is 1000000; must be a whole number from 1 to 500' }])
  })

  it('runs.list refuses a cursor of another list, a truncated one and an invented one', async () => {
    const { runs, post, sessions } = app()
    for (let n = 0; n < 30; n++) await post({ runId: `r${n}` })
    const { nextCursor = '' } = await runs.list({ limit: 12 })
    expect((await runs.list({ cursor: nextCursor })).items).toHaveLength(18)
    const foreign = (await sessions.tree('s1', { limit: 12 })).nextCursor
    const { nextCursor: next = '' } = await runs.list({ limit: 13 })
    const mixed = `${nextCursor.slice(0, nextCursor.indexOf(':'))}${next.slice(next.indexOf(':'))}`
    const wrong = [foreign, nextCursor.slice(0, -1), nextCursor.slice(1), `${nextCursor}0`, mixed]
    for (const cursor of [...wrong, '', '12', ':', '%', '\ud800', '__proto__', 'x:y'])
      expect(await optionProblems(() => runs.list({ cursor: cursor as string }))).toEqual([
        {
          field: 'cursor',
          detail: expect.stringMatching(/^(is an empty string; )?must be the nextCursor of a page of this list$/),
        },
      ])
  })

  it.each(['2026-11-21T08:00:00Z', '1795248000000', '', null, true, [5], {}, new Date('nonsense'), Number.NaN])(
    'runs.list refuses %j for since and until',
    async (time) => {
      for (const field of ['since', 'until'])
        expect(await problemsOf({ [field]: time })).toEqual([
          { field, detail: expect.stringContaining('must be a Date, or epoch milliseconds') },
        ])
    },
  )

  it('The store gets times as numbers, and only the given filters', async () => {
    const asked: object[] = []
    const { runs } = app((store) => ({
      ...store,
      async listRuns(query) {
        asked.push(query)
        return { items: [] }
      },
    }))
    await runs.list({ since: new Date(5), until: new Date(7), status: 'failed' })
    await runs.list()
    expect(asked).toStrictEqual([
      { tenant: 'default', limit: 50, since: 5, until: 7, status: ['failed'] },
      { tenant: 'default', limit: 50 },
    ])
  })

  it('A cursor may hold any text of a store', async () => {
    const cursors = ['', 'a:b', '%', ':', 'ü\n "', '2026-11-21T08:00:00Z|r1', '0']
    const asked: (string | undefined)[] = []
    const { runs } = app((store) => ({
      ...store,
      async listRuns({ cursor }) {
        asked.push(cursor)
        const nextCursor = cursors[asked.length - 1]
        return { items: [], ...(nextCursor !== undefined && { nextCursor }) }
      },
    }))
    await allPages((page) => runs.list(page))
    expect(asked).toEqual([undefined, ...cursors])
  })
})

describe('options of a list of dispatches', () => {
  it('The list options of dispatches are checked like those of runs', async () => {
    const { deps } = app()
    const store = memoryStore()
    const queue = { wake: () => {}, listen: () => () => {} }
    const { logger, clock } = deps
    const planning = { events: defineEvents({ e: { channels: { log: {} } } }), channels: {} }
    const dispatches = createDispatches({
      store,
      queue,
      logger,
      clock,
      expiresInMs: 1,
      plugins: joinData([], clock),
      ...planning,
    })
    const wrong = { userId: 'jane', eventType: 1, recipient: null, sessionId: [], tenant: '', status: 'x', limit: 0 }
    const more = { since: 'x', until: 'x', cursor: 'x' }
    const problems = await optionProblems(() => dispatches.list({ ...wrong, ...more } as never))
    expect(problems.map((problem) => 'field' in problem && problem.field).sort()).toEqual(
      Object.keys({ ...wrong, ...more }).sort(),
    )
  })
})
