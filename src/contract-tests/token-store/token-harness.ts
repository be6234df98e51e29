import type { TokenUse } from '../../model/token-use.ts'
import type { NewRevocation, NewTokenUse, Revocation, TokenStore, TokenUseQuery } from '../../ports/token-store.ts'
import { ok } from '../assertions.ts'
import { type CaseTable, type ContractCase, casesOf, type StoreCapabilities, type StoreTrial } from '../contract.ts'

export const HOUR_MS = 3_600_000

/** Ends a loop if a cursor leads back to an earlier page. No case has so many pages. */
const MAX_PAGES = 1_000

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

/** Cases that need these capabilities. Each case runs on its own harness. */
export function tokenCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<TokenHarness>,
): readonly TokenStoreCase[] {
  return casesOf<TokenHarness, StoreCapabilities>(needs, table).map(({ run, ...rest }) => ({
    ...rest,
    async run(trial) {
      const hasOther = !needs.includes('secondHandle') || trial.other !== undefined
      ok(hasOther, '`create` returned no `other`: return one, or set `secondHandle: false`')
      await run(harnessOf(trial))
    },
  }))
}

function harnessOf(trial: StoreTrial<TokenStore>): TokenHarness {
  const { store, other = store } = trial

  const uses: TokenHarness['uses'] = async (query = {}, handle = store) => {
    const limit = query.limit ?? 100
    const all: TokenUse[] = []
    let cursor = query.cursor
    for (let page = 0; page < MAX_PAGES; page++) {
      const { items, nextCursor } = await handle.listTokenUses({ tenant: 't', ...query, limit, cursor })
      ok(items.length <= limit, `a page has at most ${limit} uses, got ${items.length}`)
      all.push(...items)
      if (nextCursor === undefined) return all
      cursor = nextCursor
    }
    throw new Error(`a list still has a next page after ${MAX_PAGES} pages`)
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
    async reopen() {
      const reopened = await trial.reopen?.()
      ok(reopened, '`create` returned no `reopen`: return one, or set `durable: false`')
      return harnessOf({ ...trial, store: reopened, other: reopened })
    },
  }
}

function revocation(given: Partial<NewRevocation>): NewRevocation {
  return { tenant: 't', by: 'jti', value: 'token', revokedAt: 1_000, keptForMs: HOUR_MS, ...given }
}

function tokenUse(given: Partial<NewTokenUse> & { readonly useId: string }): NewTokenUse {
  const use = { jti: 'token', tenant: 't', sessionId: 's', operation: 'session_run', outcome: 'accepted' } as const
  return { ...use, times: 1, agoMs: 0, ...given }
}
