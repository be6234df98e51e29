import type { Awaitable } from '../../model/awaitable.ts'
import type { Principal } from '../../model/principal.ts'
import { withTimeout } from '../../model/time-out.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Revocation, RevocationStore } from '../../ports/revocation-store.ts'
import { portFault, refusalOf } from '../answers/fault.ts'
import type { Refused } from '../answers/result.ts'
import { invalidToken } from '../authenticate.ts'
import { timedMap } from './timed-map.ts'

/** Revocations known to this process. */
export interface Revocations {
  /**
   * Refuses a session token that is revoked, or whose parent is. Costs a look in memory while requests come: the list is read again in
   * the background. Fails closed (503) when the last read began too long ago and another one fails.
   */
  check(principal: Principal): Awaitable<Refused | undefined>
  /** Reads new revocations. @throws Errors of the store. */
  refresh(): Promise<void>
}

/** Age of the list at which a request starts a read. */
const REFRESH_MS = 400
/** A read that takes longer is given up; its late result is still used. */
const READ_MS = 5_000
/** Age of the list at which a request waits for a read. Below one second, in which a revocation takes effect. */
const STALE_MS = 900

const PAGE = 500

interface Known {
  readonly revokedAt: number
  /** By this process's clock. */
  readonly until: number
}

export function revocationList(
  store: Pick<RevocationStore, 'listRevocations'>,
  clock: Pick<Clock, 'now' | 'after'>,
): Revocations {
  const known = timedMap<Known>()
  let after = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: { readonly began: number; readonly done: Promise<void> } | undefined

  async function read(): Promise<void> {
    for (;;) {
      const page = await store.listRevocations(after, PAGE)
      for (const revocation of page) put(revocation)
      if (page.length < PAGE) return
    }
  }

  function put({ tenant, by, value, revokedAt, sequence, endsInMs }: Revocation): void {
    after = Math.max(after, sequence)
    const key = keyOf(tenant, by, value)
    const now = clock.now()
    const found = known.get(key, now)
    const latest = Math.max(found?.revokedAt ?? revokedAt, revokedAt)
    const until = Math.max(found?.until ?? 0, now + endsInMs)
    known.put(key, { revokedAt: latest, until }, until, now)
  }

  /** Joins a read that is under way. */
  function start(): { readonly began: number; readonly done: Promise<void> } {
    if (reading) return reading
    const began = clock.now()
    const done = withTimeout(read(), { ms: READ_MS, clock })
      .then(() => {
        readAt = began
      })
      .finally(() => {
        reading = undefined
      })
    reading = { began, done }
    return reading
  }

  /** Resolves when a read is complete that began at most `STALE_MS` ago. An older one may fail. */
  async function freshen(): Promise<void> {
    const now = clock.now()
    const { began, done } = start()
    if (now - began < STALE_MS) return done
    await done.catch(() => {})
    await start().done
  }

  function judge({ id, tenant, sessionId = '', userId, parents = [], issuedAt }: Principal): Refused | undefined {
    if (known.size === 0) return undefined
    const now = clock.now()
    const revokedAtOf = (by: Revocation['by'], value: string): number =>
      known.get(keyOf(tenant, by, value), now)?.revokedAt ?? Number.NEGATIVE_INFINITY
    const isListed = [id, ...parents.map((parent) => parent.id)].some(
      (jti) => revokedAtOf('jti', jti) > Number.NEGATIVE_INFINITY,
    )
    const revokedAt = Math.max(
      revokedAtOf('sessionId', sessionId),
      userId === undefined ? Number.NEGATIVE_INFINITY : revokedAtOf('userId', userId),
    )
    const isCovered = revokedAt > Number.NEGATIVE_INFINITY && (issuedAt ?? revokedAt) <= revokedAt
    return isListed || isCovered ? invalidToken('revoked') : undefined
  }

  return {
    check(principal) {
      if (principal.sessionId === undefined) return undefined
      const age = clock.now() - readAt
      if (age >= 0 && age < STALE_MS) {
        // A failure is reported by the request that must wait.
        if (age >= REFRESH_MS) start().done.catch(() => {})
        return judge(principal)
      }
      return freshen().then(
        () => judge(principal),
        (cause) => refusalOf(portFault('store_unavailable', cause)),
      )
    },
    async refresh() {
      await reading?.done.catch(() => {})
      await start().done
    },
  }
}

/** A user id may contain line breaks, and stands last. */
function keyOf(tenant: string, by: Revocation['by'], value: string): string {
  return `${tenant}\n${by}\n${value}`
}
