import { expect } from 'vitest'
import type { NewTokenUse } from '../../../src/ports/token-store.ts'
import { HOUR } from '../storing.ts'
import type { Call } from './cost-trials.ts'

const use = (id: string): NewTokenUse => ({
  ...{ useId: id, tenant: 't', jti: id, sessionId: id, operation: 'dispatch', outcome: 'accepted', times: 1, agoMs: 0 },
})

/** Calls of the log of token uses, and of its readers. */
export const TOKEN_USE_CALLS: Readonly<Record<string, Call>> = {
  async 'record uses of a token'({ store }, id) {
    return () => store.recordTokenUses([use(id), { ...use(id), useId: `${id}-2` }])
  },
  async 'record uses of a token again'({ store, other }, id) {
    await store.recordTokenUses([use(id)])
    return () => other.recordTokenUses([use(id)])
  },
  async 'list uses of a token'({ store }, id) {
    await store.recordTokenUses([use(id), { ...use(id), useId: `${id}-2` }])
    return async () => {
      for (const by of [{ jti: id }, { sessionId: id }, { jti: id, outcome: 'accepted' }] as const) {
        const query = { tenant: 't', ...by, limit: 1 }
        const { items, nextCursor: cursor } = await store.listTokenUses(query)
        expect([items.length, (await store.listTokenUses({ ...query, cursor })).items.length]).toEqual([1, 1])
      }
    }
  },
  async 'list the latest uses of tokens'({ store }, id) {
    await store.recordTokenUses([use(id)])
    return async () => expect((await store.listTokenUses({ tenant: 't', limit: 1 })).items).toHaveLength(1)
  },
}

export const TOKEN_USE_SWEEPS: Readonly<Record<string, Call>> = {
  async 'remove uses of tokens'(trial, id) {
    await trial.store.recordTokenUses([{ ...use(id), agoMs: 10 * HOUR }])
    const removal = { usedForMs: HOUR, limit: 5 }
    return async () => expect(await trial.store.removeTokenUses(removal)).toBeGreaterThan(0)
  },
}
