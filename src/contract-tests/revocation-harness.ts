import type { NewRevocation, Revocation, RevocationStore } from '../ports/revocation-store.ts'
import { ok } from './assertions.ts'
import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from './contract.ts'
import { reopened, storeCases } from './store-cases.ts'

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

export type RevocationStoreCase = ContractCase<StoreTrial<RevocationStore>>

/** A store under test, with the calls that most cases make. Default tenant: `t`. */
export interface RevocationHarness {
  readonly store: RevocationStore
  /** The second handle; `store` if there is none. */
  readonly other: RevocationStore
  now(): number
  advance(ms: number): Promise<void>
  revoke(given: Partial<NewRevocation>, handle?: RevocationStore): Promise<void>
  /** Reads all revocations after a sequence, page by page. */
  revocations(after?: number, limit?: number, handle?: RevocationStore): Promise<readonly Revocation[]>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<RevocationHarness>
}

export function revocationCasesOf(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<RevocationHarness>,
): readonly RevocationStoreCase[] {
  return storeCases(harnessOf, needs, table)
}

function harnessOf(trial: StoreTrial<RevocationStore>): RevocationHarness {
  const { store, other = store } = trial

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
    reopen: async () => harnessOf(await reopened(trial)),
  }
}

function revocation(given: Partial<NewRevocation>): NewRevocation {
  return { tenant: 't', by: 'jti', value: 'token', revokedAt: 1_000, keptForMs: HOUR_MS, ...given }
}
