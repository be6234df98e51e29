import { equal } from '../../../../src/contract-tests/assertions.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { AT, listed, MINUTE_MS, newRow, statisticsCases } from './harness.ts'

export const replacementCases: readonly RecordCase[] = [
  ...statisticsCases([], {
    'a row of a higher revision replaces the stored one as a whole': async (t) => {
      await t.put({ revision: 1, counts: { sent: 1, failed: { expired: 1 } } })
      await t.put({ revision: 5, counts: { accepted: 3 } })
      equal(await t.rows(), [listed(newRow({ revision: 5, counts: { accepted: 3 } }))])
    },
    'a row of an equal or lower revision is ignored': async (t) => {
      await t.put({ revision: 3, counts: { sent: 3 } })
      for (const revision of [3, 2, 1]) {
        await t.put({ revision, counts: { sent: 99 } })
        equal(await t.rows(), [listed(newRow({ revision: 3, counts: { sent: 3 } }))])
      }
    },
    'revisions are compared as numbers': async (t) => {
      for (const revision of [9, 10, 100, 99, 1_000_000, 2 ** 40]) await t.put({ revision, counts: { sent: revision } })
      equal(await t.rows(), [listed(newRow({ revision: 2 ** 40, counts: { sent: 2 ** 40 } }))])
    },
    'a repeated call changes nothing': async (t) => {
      const given = [0, 1, 2].map((at) => newRow({ startsAt: AT + at * MINUTE_MS, counts: { sent: at } }))
      for (let times = 0; times < 3; times++) {
        await t.put(...given)
        equal(await t.rows(), given.map(listed))
      }
    },
    'a call stores its new rows and replaces only what is older': async (t) => {
      await t.put({ counterId: 'a', revision: 1 }, { counterId: 'b', revision: 5 })
      await t.put({ counterId: 'a', revision: 2 }, { counterId: 'b', revision: 4 }, { counterId: 'c', revision: 1 })
      equal((await t.rows()).map(({ counterId, revision }) => [counterId, revision]).toSorted(), [
        ['a', 2],
        ['b', 5],
        ['c', 1],
      ])
    },
    'a row replaces neither that of another tenant nor of another step': async (t) => {
      await t.put({}, { tenant: 'other' }, { step: 'hour' })
      await t.put({ revision: 2 })
      const revisions = [
        ...(await t.rows()),
        ...(await t.rows({ tenant: 'other' })),
        ...(await t.rows({ step: 'hour' })),
      ]
      equal(
        revisions.map(({ revision }) => revision),
        [2, 1, 1],
      )
    },
    'a replaced row is listed once, at its place': async (t) => {
      const starts = [0, 1, 2, 3].map((at) => AT + at * MINUTE_MS)
      await t.put(...starts.map((startsAt) => ({ startsAt })))
      for (const [revision, startsAt] of [starts[1], starts[3], starts[1]].entries())
        await t.put({ ...(startsAt !== undefined && { startsAt }), revision: revision + 2 })
      for (const limit of [1, 2, 4])
        equal(
          (await t.rows({ limit })).map(({ startsAt }) => startsAt),
          starts,
        )
    },
    'of concurrent calls with one row, the highest revision remains': async (t) => {
      const revisions = [3, 9, 1, 12, 5, 11, 2, 10, 4, 8, 6, 7]
      await Promise.all(
        revisions.map((revision, at) => {
          const handle = at % 2 === 0 ? t.store : t.other
          return handle.rows.put([newRow({ revision, counts: { sent: revision } })])
        }),
      )
      equal(await t.rows(), [listed(newRow({ revision: 12, counts: { sent: 12 } }))])
    },
    'of concurrent calls with several rows, none is lost': async (t) => {
      await Promise.all(
        Array.from({ length: 8 }, (_, at) => {
          const handle = at % 2 === 0 ? t.store : t.other
          const own = newRow({ counterId: `own${at}` })
          return handle.rows.put([own, ...['x', 'y'].map((counterId) => newRow({ counterId, revision: at + 1 }))])
        }),
      )
      const expected = [...Array.from({ length: 8 }, (_, at) => [`own${at}`, 1]), ['x', 8], ['y', 8]]
      equal((await t.rows()).map(({ counterId, revision }) => [counterId, revision]).toSorted(), expected.toSorted())
    },
  }),
  ...statisticsCases(['durable'], {
    'a lower revision is ignored after reopening': async (t) => {
      await t.put({ revision: 2 })
      const reopened = await t.reopen()
      await reopened.put({ revision: 1 })
      equal(
        (await reopened.rows()).map(({ revision }) => revision),
        [2],
      )
    },
  }),
]
