import { readPages } from '../../../../src/contract-tests/store-cases.ts'
import type { TokenUse } from '../../../../src/model/token-use.ts'
import {
  type NewTokenUse,
  type TokenUseQuery,
  type TokenUseRecords,
  tokenUseRecords,
} from '../../../../src/plugins/agent-tokens/token-use-records.ts'
import { type CasesOf, type RecordHandles, type RecordHarness, recordCasesOf } from '../../../support/record-trials.ts'

export const HOUR_MS = 3_600_000

/** Calls that most cases make. Default tenant: `t`. */
interface Calls {
  record(...uses: readonly (Partial<NewTokenUse> & { readonly useId: string })[]): Promise<void>
  /** Reads a list page by page. */
  uses(query?: Partial<TokenUseQuery>, handle?: TokenUseRecords): Promise<readonly TokenUse[]>
  ids(query?: Partial<TokenUseQuery>): Promise<readonly string[]>
}

export const casesOfUses: CasesOf<RecordHarness<TokenUseRecords, Calls>> = recordCasesOf(tokenUseRecords, callsOf)

function callsOf({ store }: RecordHandles<TokenUseRecords>): Calls {
  const uses: Calls['uses'] = async (query = {}, handle = store) => {
    const limit = query.limit ?? 100
    return readPages(limit, (cursor = query.cursor) => handle.list({ tenant: 't', ...query, limit, cursor }))
  }

  return {
    record: (...given) => store.record(given.map(tokenUse)),
    uses,
    ids: async (query) => (await uses(query)).map(({ useId }) => useId),
  }
}

export function tokenUse(given: Partial<NewTokenUse> & { readonly useId: string }): NewTokenUse {
  const use = { jti: 'token', tenant: 't', sessionId: 's', operation: 'session_run', outcome: 'accepted' } as const
  return { ...use, times: 1, agoMs: 0, ...given }
}
