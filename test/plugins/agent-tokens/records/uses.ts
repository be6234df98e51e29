import { equal, ok } from '../../../../src/contract-tests/assertions.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { casesOfUses, HOUR_MS } from './harness.ts'

const MINUTE_MS = 60_000

/** Leeway for a store whose clock runs. */
const MARGIN_MS = 10_000

export const tokenUseCases: readonly RecordCase[] = [
  ...casesOfUses([], {
    'uses are listed with all their members, newest first': async (t) => {
      const refused = { operation: 'exchange', outcome: 'refused', code: 'insufficient_scope', id: 'req_1' } as const
      await t.record(
        { useId: 'a', agoMs: 2 * MINUTE_MS, id: 'dsp_1', operation: 'dispatch' },
        { useId: 'b', agoMs: MINUTE_MS, times: 7, ...refused },
        { useId: 'c' },
      )
      const listed = await t.uses()
      const common = { jti: 'token', tenant: 't', sessionId: 's' }
      equal(
        listed.map(({ at, ...use }) => use),
        [
          { useId: 'c', ...common, operation: 'session_run', outcome: 'accepted', times: 1 },
          { useId: 'b', ...common, ...refused, times: 7 },
          { useId: 'a', ...common, operation: 'dispatch', outcome: 'accepted', id: 'dsp_1', times: 1 },
        ],
      )
      const now = t.now()
      const isDated = listed.every(({ at }, index) => Math.abs(now - index * MINUTE_MS - at) < MARGIN_MS)
      ok(isDated, 'a use is dated by the clock of the store')
    },
    'uses are listed by token, session and outcome, and by all of them': async (t) => {
      await t.record(
        { useId: 'a', agoMs: 4_000 },
        { useId: 'b', agoMs: 3_000, jti: 'other' },
        { useId: 'c', agoMs: 2_000, sessionId: 'other' },
        { useId: 'd', agoMs: 1_000, outcome: 'refused', code: 'invalid_token' },
      )
      equal(await t.ids(), ['d', 'c', 'b', 'a'])
      equal(await t.ids({ jti: 'token' }), ['d', 'c', 'a'])
      equal(await t.ids({ sessionId: 's' }), ['d', 'b', 'a'])
      equal(await t.ids({ outcome: 'accepted' }), ['c', 'b', 'a'])
      equal(await t.ids({ outcome: 'refused' }), ['d'])
      equal(await t.ids({ jti: 'token', sessionId: 's', outcome: 'accepted' }), ['a'])
      equal(await t.ids({ jti: 'other', sessionId: 'other' }), [])
    },
    'uses of another tenant are not listed': async (t) => {
      await t.record({ useId: 'mine' }, { useId: 'theirs', tenant: 'other' })
      for (const query of [{}, { jti: 'token' }, { sessionId: 's' }, { outcome: 'accepted' }] as const) {
        equal(await t.ids(query), ['mine'])
        equal(await t.ids({ ...query, tenant: 'other' }), ['theirs'])
      }
    },
    'pages of any length contain each use once': async (t) => {
      const useIds = Array.from({ length: 13 }, (_, at) => `u${String(at).padStart(2, '0')}`)
      await t.record(
        ...useIds.map((useId, at) => ({ useId, agoMs: at * 1_000, jti: at % 3 === 0 ? 'third' : 'token' })),
      )
      for (const limit of [1, 2, 5, 12, 13, 14]) equal(await t.ids({ limit }), useIds)
      for (const limit of [1, 2, 4, 5]) {
        equal(
          await t.ids({ limit, jti: 'third' }),
          useIds.filter((_, at) => at % 3 === 0),
        )
      }
    },
    'uses of the same millisecond are each listed once': async (t) => {
      const useIds = Array.from({ length: 9 }, (_, at) => `u${at}`)
      await t.record(...useIds.map((useId) => ({ useId })))
      for (const limit of [1, 2, 9]) equal((await t.ids({ limit })).toSorted(), useIds)
    },
    'an invalid cursor lists at most the uses that fit': async (t) => {
      await t.record({ useId: 'a' })
      for (const cursor of ['', 'x', '-1', '1 ', "' or 1=1 --", '999999999999999999999 a', 'x'.repeat(5_000)]) {
        const { items } = await t.store.list({ tenant: 't', limit: 5, cursor })
        ok(
          items.every(({ useId }) => useId === 'a'),
          `the cursor ${cursor} lists only uses that fit`,
        )
      }
    },
    'a hundred uses are stored at once': async (t) => {
      const useIds = Array.from({ length: 100 }, (_, at) => `u${at}`)
      await t.record(...useIds.map((useId, at) => ({ useId, agoMs: at * 1_000 })))
      equal(await t.ids({ limit: 40 }), useIds)
    },
    'the same uses stored twice are stored once': async (t) => {
      const same = ['a', 'b'].map((useId) => ({ useId, agoMs: MINUTE_MS, times: 3 }))
      await t.record({ useId: 'first', agoMs: 2 * MINUTE_MS }, ...same)
      const stored = await t.uses()
      await t.advance(1_000)
      await t.record(...same.map((use) => ({ ...use, agoMs: MINUTE_MS + 1_000, times: 4 })))
      equal(await t.uses(), stored)
      await t.record({ ...same[0], useId: 'a' }, { useId: 'last' }, { useId: 'last' })
      equal((await t.ids()).toSorted(), ['a', 'b', 'first', 'last'])
      equal((await t.ids({ jti: 'token' })).length, 4)
    },
    'concurrent calls with the same uses store them once': async (t) => {
      await Promise.all(
        Array.from({ length: 5 }, (_, at) => t.record({ useId: 'a' }, { useId: 'b' }, { useId: `own${at}` })),
      )
      equal((await t.ids()).toSorted(), ['a', 'b', 'own0', 'own1', 'own2', 'own3', 'own4'])
    },
    'a use that was removed can be stored again': async (t) => {
      await t.record({ useId: 'a', agoMs: HOUR_MS })
      equal(await t.store.remove({ usedForMs: MINUTE_MS, limit: 10 }), 1)
      await t.record({ useId: 'a' })
      equal(await t.ids(), ['a'])
    },
    'removal removes uses of that age and reports their number': async (t) => {
      await t.record({ useId: 'old', agoMs: 2 * HOUR_MS }, { useId: 'new', agoMs: MINUTE_MS })
      equal(await t.store.remove({ usedForMs: 3 * HOUR_MS, limit: 10 }), 0)
      equal(await t.store.remove({ usedForMs: HOUR_MS, limit: 10 }), 1)
      equal(await t.ids(), ['new'])
      await t.advance(HOUR_MS)
      equal(await t.store.remove({ usedForMs: HOUR_MS, limit: 10 }), 1)
      equal(await t.ids(), [])
    },
    'removal takes the oldest uses first, at most its limit': async (t) => {
      await t.record(...['a', 'b', 'c', 'd', 'e'].map((useId, at) => ({ useId, agoMs: 2 * HOUR_MS - at * 1_000 })))
      equal(await t.store.remove({ usedForMs: HOUR_MS, limit: 2 }), 2)
      equal(await t.ids(), ['e', 'd', 'c'])
      equal(await t.store.remove({ usedForMs: HOUR_MS, limit: 2 }), 2)
      equal(await t.store.remove({ usedForMs: HOUR_MS, limit: 2 }), 1)
      equal(await t.ids(), [])
    },
    'removal of one tenant keeps the uses of others': async (t) => {
      await t.record({ useId: 'mine', agoMs: 2 * HOUR_MS }, { useId: 'theirs', agoMs: 3 * HOUR_MS, tenant: 'other' })
      equal(await t.store.remove({ tenant: 't', usedForMs: HOUR_MS, limit: 10 }), 1)
      equal([await t.ids(), await t.ids({ tenant: 'other' })], [[], ['theirs']])
      equal(await t.store.remove({ usedForMs: HOUR_MS, limit: 10 }), 1)
    },
    'a list of no uses is stored without effect': async (t) => {
      await t.store.record([])
      equal(await t.ids(), [])
    },
  }),
  ...casesOfUses(['secondHandle'], {
    'uses are visible through the other handle at once': async (t) => {
      await t.record({ useId: 'a' })
      equal(await t.uses({}, t.other), await t.uses())
    },
  }),
  ...casesOfUses(['durable'], {
    'uses survive reopening': async (t) => {
      await t.record({ useId: 'a' })
      const before = await t.uses()
      equal(await (await t.reopen()).uses(), before)
    },
  }),
]
