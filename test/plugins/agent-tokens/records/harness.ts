import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from '../../../../src/contract-tests/contract.ts'
import { readPages, reopened, storeCases } from '../../../../src/contract-tests/store-cases.ts'
import type { TokenUse } from '../../../../src/model/token-use.ts'
import {
  type NewTokenUse,
  type TokenUseQuery,
  type TokenUseRecords,
  tokenUseRecords,
} from '../../../../src/plugins/agent-tokens/token-use-records.ts'
import type { RecordStore } from '../../../../src/ports/record-store.ts'

export const HOUR_MS = 3_600_000

export type UseCase = ContractCase<StoreTrial<RecordStore>>

/** Records under test, with the calls that most cases make. Default tenant: `t`. */
export interface UseHarness {
  readonly store: TokenUseRecords
  /** The second handle; `store` if there is none. */
  readonly other: TokenUseRecords
  now(): number
  advance(ms: number): Promise<void>
  record(...uses: readonly (Partial<NewTokenUse> & { readonly useId: string })[]): Promise<void>
  /** Reads a list page by page. */
  uses(query?: Partial<TokenUseQuery>, handle?: TokenUseRecords): Promise<readonly TokenUse[]>
  ids(query?: Partial<TokenUseQuery>): Promise<readonly string[]>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<UseHarness>
}

export function casesOfUses(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<UseHarness>,
): readonly UseCase[] {
  return storeCases(harnessOf, needs, table)
}

function harnessOf(trial: StoreTrial<RecordStore>): UseHarness {
  const store = tokenUseRecords(trial.store)
  const other = trial.other ? tokenUseRecords(trial.other) : store

  const uses: UseHarness['uses'] = async (query = {}, handle = store) => {
    const limit = query.limit ?? 100
    return readPages(limit, (cursor = query.cursor) => handle.list({ tenant: 't', ...query, limit, cursor }))
  }

  return {
    store,
    other,
    now: () => trial.now(),
    advance: async (ms) => trial.advance(ms),
    record: (...given) => store.record(given.map(tokenUse)),
    uses,
    ids: async (query) => (await uses(query)).map(({ useId }) => useId),
    reopen: async () => harnessOf(await reopened(trial)),
  }
}

export function tokenUse(given: Partial<NewTokenUse> & { readonly useId: string }): NewTokenUse {
  const use = { jti: 'token', tenant: 't', sessionId: 's', operation: 'session_run', outcome: 'accepted' } as const
  return { ...use, times: 1, agoMs: 0, ...given }
}
