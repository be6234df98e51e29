import { equal, ok } from '../../../../src/contract-tests/assertions.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { ADDRESS, feedbackCases, HOUR_MS, suppression } from './harness.ts'

const OWNER = { tenant: 't', channel: 'email', owner: 'delivery:d' } as const

export const reportCases: readonly RecordCase[] = [
  ...feedbackCases([], {
    'reports are found by their owner, with their members': async (t) => {
      const bounced = { kind: 'bounced', at: 7_000, code: '5.1.1', addressKey: ADDRESS } as const
      equal(await t.record({ feedbackId: 'a', ...bounced }, { feedbackId: 'b', kind: 'opened', at: 9_000 }), ['a', 'b'])
      equal(await t.find(), [
        { feedbackId: 'a', ...OWNER, ...bounced },
        { feedbackId: 'b', ...OWNER, kind: 'opened', at: 9_000 },
      ])
    },
    'reports of another tenant, channel or owner are not found': async (t) => {
      await t.record(
        { feedbackId: 'tenant', tenant: 'other' },
        { feedbackId: 'channel', channel: 'other' },
        { feedbackId: 'owner', owner: 'message:d' },
      )
      equal(await t.find(), [])
      equal(
        (await t.find({ tenant: 'other' })).map(({ feedbackId }) => feedbackId),
        ['tenant'],
      )
      equal(
        (await t.find({ channel: 'other' })).map(({ feedbackId }) => feedbackId),
        ['channel'],
      )
      equal(
        (await t.find({ owner: 'message:d' })).map(({ feedbackId }) => feedbackId),
        ['owner'],
      )
    },
    'reports of several owners are found in one call': async (t) => {
      await t.record({ feedbackId: 'a', owner: 'delivery:1' }, { feedbackId: 'b', owner: 'message:<1@x>' })
      const owners = ['delivery:1', 'message:<1@x>', 'delivery:1', 'delivery:2'].map((owner) => ({ ...OWNER, owner }))
      const found = await t.store.feedback.find(owners)
      equal(found.map(({ feedbackId }) => feedbackId).toSorted(), ['a', 'b'])
      equal(await t.store.feedback.find([]), [])
    },
    'owners keep every character': async (t) => {
      const owners = [
        "message:<o'Hara@x>",
        'message:\\ " % _',
        'message: ',
        'message:ÄÖ\u{1f600}',
        'message:A',
        'message:a',
      ]
      await t.record(...owners.map((owner, at) => ({ feedbackId: `f${at}`, owner })))
      for (const [at, owner] of owners.entries())
        equal(
          (await t.find({ owner })).map(({ feedbackId }) => feedbackId),
          [`f${at}`],
        )
    },
    'a repeated report is not new and keeps the earlier time, in any order': async (t) => {
      equal(await t.record({ feedbackId: 'a', at: 5_000 }), ['a'])
      equal(await t.record({ feedbackId: 'a', at: 7_000 }), [])
      equal(
        (await t.find()).map(({ at }) => at),
        [5_000],
      )
      equal(await t.record({ feedbackId: 'a', at: 3_000 }, { feedbackId: 'b' }), ['b'])
      equal(
        (await t.find()).map(({ at }) => at),
        [3_000, 1_000],
      )
    },
    'a hundred reports are stored at once': async (t) => {
      const ids = Array.from({ length: 100 }, (_, at) => `f${String(at).padStart(2, '0')}`)
      equal((await t.record(...ids.map((feedbackId) => ({ feedbackId })))).length, 100)
      equal(
        (await t.find()).map(({ feedbackId }) => feedbackId),
        ids,
      )
    },
    'an empty batch stores nothing': async (t) => {
      equal(await t.record(), [])
      equal(await t.find(), [])
    },
    'concurrent batches store each report once, with the earliest time': async (t) => {
      const given = [9, 2, 7, 4, 5].map((second, at) => ({
        feedback: [{ ...OWNER, feedbackId: 'a', kind: 'opened', at: second * 1_000 } as const],
        handle: at % 2 === 0 ? t.store : t.other,
      }))
      const added = await Promise.all(given.map(({ feedback, handle }) => handle.feedback.record({ feedback })))
      equal(added.flat(), ['a'])
      equal(
        (await t.find()).map(({ at }) => at),
        [2_000],
      )
    },
    'a batch with a `once` that is stored is ignored as a whole': async (t) => {
      equal(await t.recordOnce('token', { feedbackId: 'a' }), ['a'])
      equal(await t.recordOnce('token', { feedbackId: 'a', at: 1 }, { feedbackId: 'b' }), [])
      equal(
        (await t.find()).map(({ feedbackId, at }) => [feedbackId, at]),
        [
          ['a', 1_000],
          ['token', 1_000],
        ],
      )
    },
    'of concurrent batches with one `once`, exactly one is stored': async (t) => {
      const added = await Promise.all(
        Array.from({ length: 8 }, (_, at) => t.recordOnce('token', { feedbackId: `f${at}` })),
      )
      equal(added.flat().length, 1)
      equal((await t.find()).length, 2)
    },
    'a suppression is stored with its report': async (t) => {
      const own = suppression({ suppressionId: 's', reason: 'bounced' })
      await t.record({ feedbackId: 'a', kind: 'bounced', suppression: own })
      equal(await t.suppressed(), ['s'])
    },
    'a repeated report does not restore its suppression': async (t) => {
      const own = suppression({ suppressionId: 's' })
      await t.record({ feedbackId: 'a', kind: 'complained', suppression: own })
      await t.store.suppressions.remove(['s'])
      equal(await t.record({ feedbackId: 'a', kind: 'complained', at: 1, suppression: own }), [])
      equal(await t.suppressed(), [])
      await t.record({ feedbackId: 'b', kind: 'complained', suppression: own })
      equal(await t.suppressed(), ['s'])
    },
    'old reports are removed, the others stay': async (t) => {
      await t.record({ feedbackId: 'old' }, { feedbackId: 'theirs', tenant: 'other' })
      await t.advance(2 * HOUR_MS)
      await t.record({ feedbackId: 'new' })
      equal(await t.store.feedback.remove({ tenant: 't', storedForMs: HOUR_MS, limit: 100 }), 1)
      equal(
        (await t.find()).map(({ feedbackId }) => feedbackId),
        ['new'],
      )
      equal((await t.find({ tenant: 'other' })).length, 1)
      equal(await t.store.feedback.remove({ storedForMs: HOUR_MS, limit: 100 }), 1)
      equal((await t.find({ tenant: 'other' })).length, 0)
      equal(await t.record({ feedbackId: 'old' }), ['old'])
    },
    'at most `limit` reports are removed by a call': async (t) => {
      await t.record(...Array.from({ length: 5 }, (_, at) => ({ feedbackId: `f${at}` })))
      await t.advance(HOUR_MS)
      const removed: number[] = []
      do removed.push(await t.store.feedback.remove({ storedForMs: 1_000, limit: 2 }))
      while (removed.at(-1) === 2)
      equal(removed, [2, 2, 1])
    },
  }),
  ...feedbackCases(['secondHandle'], {
    'a report is visible through the other handle at once': async (t) => {
      await t.record({ feedbackId: 'a' })
      ok((await t.find({}, t.other)).length === 1, 'the other handle finds the report')
    },
  }),
  ...feedbackCases(['durable'], {
    'reports and suppressions survive reopening': async (t) => {
      await t.record({ feedbackId: 'a', suppression: suppression({ suppressionId: 's' }) })
      const reopened = await t.reopen()
      equal((await reopened.find()).length, 1)
      equal(await reopened.suppressed(), ['s'])
    },
  }),
]
