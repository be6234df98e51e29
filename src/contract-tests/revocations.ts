import type { Revocation } from '../ports/revocation-store.ts'
import { equal, ok } from './assertions.ts'
import { HOSTILE, HOUR_MS, type RevocationStoreCase, revocationCasesOf } from './revocation-harness.ts'

/** Leeway for a store whose clock runs. */
const MARGIN_MS = 10_000

export const revocationCases: readonly RevocationStoreCase[] = [
  ...revocationCasesOf([], {
    'revocations are listed with their members, in the order in which they were stored': async (t) => {
      await t.revoke({ value: 'token', revokedAt: 5_000 })
      await t.revoke({ tenant: 'other', by: 'sessionId', value: 's', revokedAt: 4_000 })
      await t.revoke({ by: 'userId', value: 'u', revokedAt: 3_000, keptForMs: 2 * HOUR_MS })
      const listed = await t.revocations()
      equal(listed.map(membersOf), [
        { tenant: 't', by: 'jti', value: 'token', revokedAt: 5_000 },
        { tenant: 'other', by: 'sessionId', value: 's', revokedAt: 4_000 },
        { tenant: 't', by: 'userId', value: 'u', revokedAt: 3_000 },
      ])
      const [first, , last] = listed.map(({ endsInMs }) => endsInMs)
      ok(isNear(first, HOUR_MS) && isNear(last, 2 * HOUR_MS), 'a revocation tells when it expires')
    },
    'a repeated revocation is listed again': async (t) => {
      await t.revoke({ revokedAt: 1_000 })
      await t.revoke({ revokedAt: 2_000 })
      equal(
        (await t.revocations()).map(({ revokedAt }) => revokedAt),
        [1_000, 2_000],
      )
    },
    'a reader continues after the last revocation that it has seen': async (t) => {
      await t.revoke({ value: 'a' })
      const [{ sequence } = { sequence: 0 }] = await t.revocations()
      equal(sequence, 1)
      equal(await t.revocations(sequence), [])
      await t.revoke({ value: 'b' })
      await t.revoke({ value: 'c' })
      equal(
        (await t.revocations(sequence)).map(({ value }) => value),
        ['b', 'c'],
      )
    },
    'pages of any length contain each revocation once': async (t) => {
      const values = Array.from({ length: 7 }, (_, at) => `v${at}`)
      for (const value of values) await t.revoke({ value })
      for (const limit of [1, 2, 3, 6, 7, 8]) {
        equal(
          (await t.revocations(0, limit)).map(({ value }) => value),
          values,
        )
      }
    },
    'a revocation is listed until it expires': async (t) => {
      await t.revoke({ value: 'short', keptForMs: HOUR_MS })
      await t.revoke({ value: 'long', keptForMs: 3 * HOUR_MS })
      await t.advance(HOUR_MS - MARGIN_MS)
      equal((await t.revocations()).length, 2)
      await t.advance(MARGIN_MS)
      equal(
        (await t.revocations()).map(({ value }) => value),
        ['long'],
      )
    },
    'sequences continue after all revocations have expired': async (t) => {
      for (const value of ['a', 'b', 'c']) await t.revoke({ value })
      await t.advance(2 * HOUR_MS)
      await t.revoke({ value: 'd' })
      await t.advance(2 * HOUR_MS)
      await t.revoke({ value: 'e' })
      equal(
        (await t.revocations()).map(({ value, sequence }) => [value, sequence]),
        [['e', 5]],
      )
    },
    'revocations keep every character of an id': async (t) => {
      for (const value of HOSTILE) await t.revoke({ by: 'userId', value })
      equal(
        (await t.revocations()).map(({ value }) => value),
        HOSTILE,
      )
    },
    'concurrent revocations have different sequences, and none is lost': async (t) => {
      const values = Array.from({ length: 20 }, (_, at) => `v${at}`)
      await Promise.all(values.map((value, at) => t.revoke({ value }, at % 2 === 0 ? t.store : t.other)))
      const listed = await t.revocations()
      equal(
        listed.map(({ sequence }) => sequence),
        values.map((_, at) => at + 1),
      )
      equal(listed.map(({ value }) => value).sort(), values.toSorted())
    },
    'a reader that continues during concurrent revocations misses none': async (t) => {
      const values = Array.from({ length: 20 }, (_, at) => `v${at}`)
      let isDone = false
      const writing = Promise.all(values.map((value) => t.revoke({ value }))).then(() => {
        isDone = true
      })
      const seen: string[] = []
      let after = 0
      const read = async (): Promise<void> => {
        for (const { value, sequence } of await t.revocations(after, 3, t.other)) {
          seen.push(value)
          after = sequence
        }
      }
      while (!isDone) {
        await read()
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
      await writing
      await read()
      equal(seen.toSorted(), values.toSorted())
    },
  }),
  ...revocationCasesOf(['secondHandle'], {
    'a revocation is visible through the other handle at once': async (t) => {
      await t.revoke({ value: 'a' })
      equal((await t.revocations(0, 10, t.other)).map(membersOf), (await t.revocations()).map(membersOf))
      await t.revoke({ value: 'b' }, t.other)
      equal((await t.revocations()).length, 2)
    },
  }),
  ...revocationCasesOf(['durable'], {
    'revocations and their sequence survive reopening': async (t) => {
      await t.revoke({ value: 'a' })
      const reopened = await t.reopen()
      await reopened.revoke({ value: 'b' })
      equal(
        (await reopened.revocations()).map(({ value, sequence }) => [value, sequence]),
        [
          ['a', 1],
          ['b', 2],
        ],
      )
    },
  }),
]

function membersOf({ sequence, endsInMs, ...rest }: Revocation): object {
  return rest
}

function isNear(ms: number | undefined, expected: number): boolean {
  return ms !== undefined && ms <= expected + MARGIN_MS && ms > expected - MARGIN_MS
}
