import { writeInstant } from '../../model/instants.ts'
import type { TokenUse, TokenUseView } from '../../model/token-use.ts'
import { oneOf } from '../../options/checks.ts'
import { type Checks, readOptions, required } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import { age, storedText, tenant } from '../../services/call-checks.ts'
import { type ListOptions, listQuery, MAX_PAGE, pageChecks, pruneAll, viewPage } from '../../services/pagination.ts'
import type { TokenUseRecords } from './token-use-records.ts'
import type { UseLog } from './use-log.ts'

/** Filter of uses: those that match all given options. */
export interface TokenUseListOptions extends ListOptions {
  /** The token's id. Uses of tokens that were exchanged from it are listed under their own. */
  readonly jti?: string | undefined
  readonly outcome?: TokenUse['outcome'] | undefined
}

/** Filter of uses to remove. */
export interface TokenUsePruneOptions {
  /** Milliseconds since the use, up to 20 years. */
  readonly olderThan: number
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

/** Uses of the session tokens of a host. Every method throws errors of the store, and `option_invalid` with all problems of its options at once. */
export interface TokenUses {
  /**
   * Uses of session tokens that were authenticated, newest first. Each process stores them once a second, and at `stop()`; a crash loses
   * at most those of its last second, and the counts of repeated refusals and posts of its last minute. A request that was refused before its
   * body was complete is not in it. Uses are removed after a week.
   */
  uses(options?: TokenUseListOptions): Promise<Page<TokenUseView>>
  /** Removes old uses. */
  prune(options: TokenUsePruneOptions): Promise<{ readonly pruned: number }>
}

const LIST = 'token uses'

const LIST_CHECKS: Checks<TokenUseListOptions> = {
  ...pageChecks(LIST),
  jti: storedText,
  sessionId: storedText,
  outcome: oneOf(['accepted', 'refused'] satisfies TokenUse['outcome'][]),
}
const PRUNE_CHECKS: Checks<TokenUsePruneOptions> = { olderThan: required(age), tenant }

interface UsesDeps {
  readonly records: TokenUseRecords
  readonly clock: Clock
  readonly log: UseLog
}

export function tokenUses({ records, clock, log }: UsesDeps): TokenUses {
  return {
    async uses(options = {}) {
      const query = listQuery(LIST, readOptions('tokens.uses', options, LIST_CHECKS))
      await log.flush()
      return viewPage(LIST, await records.list(query), viewUse)
    },
    async prune(options) {
      const { olderThan, tenant } = readOptions('tokens.prune', options, PRUNE_CHECKS)
      const removal = { tenant, usedForMs: olderThan, limit: MAX_PAGE }
      return { pruned: await pruneAll(() => records.remove(removal), removal.limit, clock) }
    },
  }
}

function viewUse({ useId: _, tenant: __, at, ...use }: TokenUse): TokenUseView {
  return { ...use, time: writeInstant(at) }
}
