import { equal, ok } from '../../../../src/contract-tests/assertions.ts'
import { SUPPRESSION_REASONS } from '../../../../src/model/suppression.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { ADDRESS, feedbackCases, HOUR_MS } from './harness.ts'

/** Leeway for a store whose clock runs. */
const MARGIN_MS = 10_000

const OTHER_ADDRESS = `k2.${'b'.repeat(43)}`

export const suppressionCases: readonly RecordCase[] = [
  ...feedbackCases([], {
    'a suppression is found by its address, with its members': async (t) => {
      const members = { channel: 'sms', reason: 'unsubscribed', category: 'offers', source: 'link' } as const
      equal(await t.suppress({ suppressionId: 's', ...members }, { suppressionId: 'o', addressKey: OTHER_ADDRESS }), [
        's',
        'o',
      ])
      const [found, ...more] = await t.store.suppressions.find([ADDRESS])
      ok(found !== undefined && more.length === 0, 'one suppression is found')
      const { createdAt, ...rest } = found
      equal(rest, { suppressionId: 's', tenant: 't', addressKey: ADDRESS, ...members })
      ok(Math.abs(t.now() - createdAt) < MARGIN_MS, 'a suppression is dated by the clock of the store')
    },
    'suppressions of several addresses are found in one call': async (t) => {
      await t.suppress({ suppressionId: 'a' }, { suppressionId: 'b', addressKey: OTHER_ADDRESS })
      const found = await t.store.suppressions.find([ADDRESS, 'k3.x', OTHER_ADDRESS, ADDRESS])
      equal(found.map(({ suppressionId }) => suppressionId).toSorted(), ['a', 'b'])
      equal(await t.store.suppressions.find([]), [])
      const many = Array.from({ length: 998 }, (_, at) => `k1.${at}`)
      equal((await t.store.suppressions.find([...many, ADDRESS])).length, 1)
    },
    'address keys that differ in case are different': async (t) => {
      await t.suppress({ suppressionId: 's', addressKey: 'k1.AbC' })
      equal(await t.suppressed('k1.aBc'), [])
      equal(await t.suppressed('k1.AbC'), ['s'])
    },
    'an address has several suppressions': async (t) => {
      await t.suppress(...SUPPRESSION_REASONS.map((reason) => ({ suppressionId: reason, reason })))
      equal(await t.suppressed(), SUPPRESSION_REASONS.toSorted())
    },
    'a repeated suppression is not new and stays as it is': async (t) => {
      equal(await t.suppress({ suppressionId: 's', source: 'ses' }), ['s'])
      await t.advance(HOUR_MS)
      equal(await t.suppress({ suppressionId: 's', source: 'host' }, { suppressionId: 'n' }), ['n'])
      const listed = await t.list()
      equal(
        listed.map(({ suppressionId, source }) => [suppressionId, source]),
        [
          ['n', 'ses'],
          ['s', 'ses'],
        ],
      )
    },
    'a suppression is found and listed until it expires': async (t) => {
      await t.suppress({ suppressionId: 's', reason: 'soft_bounced', expiresInMs: HOUR_MS }, { suppressionId: 'n' })
      const [{ createdAt = 0, expiresAt = 0 } = {}] = (await t.list({ reason: 'soft_bounced' })) ?? []
      equal(expiresAt - createdAt, HOUR_MS)
      await t.advance(HOUR_MS - MARGIN_MS)
      equal(await t.suppressed(), ['n', 's'])
      await t.advance(MARGIN_MS)
      equal(await t.suppressed(), ['n'])
      equal(
        (await t.list()).map(({ suppressionId }) => suppressionId),
        ['n'],
      )
      equal(await t.store.suppressions.remove(['s']), 0)
    },
    'a repeated suppression expires at the later of both times': async (t) => {
      await t.suppress({ suppressionId: 's', expiresInMs: 2 * HOUR_MS })
      await t.suppress({ suppressionId: 's', expiresInMs: HOUR_MS })
      await t.advance(HOUR_MS + MARGIN_MS)
      equal(await t.suppressed(), ['s'])
      await t.suppress({ suppressionId: 's', expiresInMs: 3 * HOUR_MS })
      await t.advance(2 * HOUR_MS)
      equal(await t.suppressed(), ['s'])
      await t.suppress({ suppressionId: 's' })
      await t.suppress({ suppressionId: 's', expiresInMs: HOUR_MS })
      await t.advance(48 * HOUR_MS)
      equal(await t.suppressed(), ['s'])
    },
    'an expired suppression can be added again': async (t) => {
      await t.suppress({ suppressionId: 's', expiresInMs: HOUR_MS })
      await t.advance(2 * HOUR_MS)
      equal(await t.suppress({ suppressionId: 's', expiresInMs: HOUR_MS }), ['s'])
      equal(await t.suppressed(), ['s'])
      const [{ createdAt = 0 } = {}] = await t.list()
      ok(Math.abs(t.now() - createdAt) < MARGIN_MS, 'it is dated anew')
      await t.store.suppressions.removeExpired(10)
      equal(await t.suppressed(), ['s'])
    },
    'a suppression that is added again after it expired is listed as new': async (t) => {
      await t.suppress({ suppressionId: 's', expiresInMs: HOUR_MS })
      await t.advance(1_000)
      await t.suppress({ suppressionId: 'n' })
      const listed = async () => (await t.list()).map(({ suppressionId }) => suppressionId)
      equal(await listed(), ['n', 's'])
      await t.advance(2 * HOUR_MS)
      await t.suppress({ suppressionId: 's' })
      equal(await listed(), ['s', 'n'])
    },
    'concurrent calls with one suppression store it once': async (t) => {
      const added = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          (at % 2 === 0 ? t.store : t.other).suppressions.add([
            {
              suppressionId: 's',
              tenant: 't',
              channel: 'email',
              addressKey: ADDRESS,
              reason: 'manual',
              source: 'host',
            },
          ]),
        ),
      )
      equal(added.flat(), ['s'])
      equal((await t.list()).length, 1)
    },
    'suppressions are listed by tenant, channel and reason, newest first': async (t) => {
      await t.suppress({ suppressionId: 'a' })
      await t.advance(1_000)
      await t.suppress({ suppressionId: 'b', reason: 'manual' })
      await t.advance(1_000)
      await t.suppress({ suppressionId: 'c', channel: 'sms' })
      await t.suppress({ suppressionId: 'theirs', tenant: 'other' })
      const ids = async (query: object) => (await t.list(query)).map(({ suppressionId }) => suppressionId)
      equal(await ids({}), ['c', 'b', 'a'])
      equal(await ids({ channel: 'email' }), ['b', 'a'])
      equal(await ids({ reason: 'complained' }), ['c', 'a'])
      equal(await ids({ channel: 'email', reason: 'complained' }), ['a'])
      equal(await ids({ tenant: 'other' }), ['theirs'])
    },
    'pages of any length contain each suppression once': async (t) => {
      const ids = Array.from({ length: 11 }, (_, at) => `s${String(at).padStart(2, '0')}`)
      await t.suppress(
        ...ids.map((suppressionId, at) => ({ suppressionId, reason: at % 2 === 0 ? 'manual' : 'bounced' }) as const),
      )
      for (const limit of [1, 2, 5, 10, 11, 12]) {
        equal((await t.list({ limit })).map(({ suppressionId }) => suppressionId).toSorted(), ids)
        equal((await t.list({ limit, reason: 'manual' })).length, 6)
      }
    },
    'an invalid cursor lists at most the suppressions that fit': async (t) => {
      await t.suppress({ suppressionId: 'a' })
      for (const cursor of ['', 'x', '-1', "' or 1=1 --", '999999999999999999999 a', 'x'.repeat(5_000)]) {
        const { items } = await t.store.suppressions.list({ tenant: 't', limit: 5, cursor })
        ok(
          items.every(({ suppressionId }) => suppressionId === 'a'),
          `the cursor ${cursor} lists only what fits`,
        )
      }
    },
    'a removed suppression is gone and can be added again': async (t) => {
      await t.suppress({ suppressionId: 'a' }, { suppressionId: 'b' })
      equal(await t.store.suppressions.remove(['a', 'unknown']), 1)
      equal(await t.suppressed(), ['b'])
      equal(
        (await t.list()).map(({ suppressionId }) => suppressionId),
        ['b'],
      )
      equal(await t.store.suppressions.remove(['a']), 0)
      equal(await t.suppress({ suppressionId: 'a' }), ['a'])
    },
  }),
  ...feedbackCases(['secondHandle'], {
    'a suppression is visible through the other handle at once': async (t) => {
      await t.suppress({ suppressionId: 's' })
      equal(await t.suppressed(ADDRESS, t.other), ['s'])
      await t.other.suppressions.remove(['s'])
      equal(await t.suppressed(), [])
    },
  }),
]
