import type { TokenUse } from '../../model/token-use.ts'
import type { NewRevocation, NewTokenUse, Revocation, TokenStore, TokenUseQuery } from '../../ports/token-store.ts'
import { ok } from '../assertions.ts'
import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from '../contract.ts'
import { readPages, reopened, storeCases } from '../store-cases.ts'

export const HOUR_MS = 3_600_000

/** Text that databases have refused or changed, as an id of a user. */
export const HOSTILE: readonly string[] = [
  'o\u2019Hara \u{1f600}',
  "'; drop table t --",
  '\\ " % _',
  '  ',
  'Ä'.repeat(200),
  '\u0001\n\t',
]

export type TokenStoreCase = ContractCase<StoreTrial<TokenStore>>

/** A store under test, with the calls that most cases make. Default tenant: `t`. */
export interface TokenHarness {
  readonly store: TokenStore
  /** The second handle; `store` if there is none. */
  readonly other: TokenStore
  now(): number
  advance(ms: number): Promise<void>
  revoke(given: Partial<NewRevocation>, handle?: TokenStore): Promise<void>
  /** Reads all revocations after a sequence, page by page. */
  revocations(after?: number, limit?: number, handle?: TokenStore): Promise<readonly Revocation[]>
  record(...uses: readonly (Partial<NewTokenUse> & { readonly useId: string })[]): Promise<void>
  /** Reads a list page by page. */
  uses(query?: Partial<TokenUseQuery>, handle?: TokenStore): Promise<readonly TokenUse[]>
  ids(query?: Partial<TokenUseQuery>): Promise<readonly string[]>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<TokenHarness>
}

export function tokenCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<TokenHarness>,
): readonly TokenStoreCase[] {
  return storeCases(harnessOf, needs, table)
}

function harnessOf(trial: StoreTrial<TokenStore>): TokenHarness {
  const { store, other = store } = trial

  const uses: TokenHarness['uses'] = async (query = {}, handle = store) => {
    const limit = query.limit ?? 100
    return readPages(limit, (cursor = query.cursor) => handle.listTokenUses({ tenant: 't', ...query, limit, cursor }))
  }

  return {
    store,
    other,
    now: () => trial.now(),
    advance: async (ms) => trial.advance(ms),
    revoke: (given, handle = store) => handle.revokeTokens(revocation(given)),
    async revocations(after = 0, limit = 100, handle = store) {
      const all: Revocation[] = []
      for (;;) {
        const page = await handle.listRevocations(all.at(-1)?.sequence ?? after, limit)
        ok(page.length <= limit, `a page has at most ${limit} revocations, got ${page.length}`)
        all.push(...page)
        if (page.length < limit) return all
      }
    },
    record: (...given) => store.recordTokenUses(given.map(tokenUse)),
    uses,
    ids: async (query) => (await uses(query)).map(({ useId }) => useId),
    reopen: async () => harnessOf(await reopened(trial)),
  }
}

function revocation(given: Partial<NewRevocation>): NewRevocation {
  return { tenant: 't', by: 'jti', value: 'token', revokedAt: 1_000, keptForMs: HOUR_MS, ...given }
}

function tokenUse(given: Partial<NewTokenUse> & { readonly useId: string }): NewTokenUse {
  const use = { jti: 'token', tenant: 't', sessionId: 's', operation: 'session_run', outcome: 'accepted' } as const
  return { ...use, times: 1, agoMs: 0, ...given }
}
