import type { TokenUse } from '../../model/token-use.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { NewPluginRecord, PluginRecord, RecordName, RecordQuery, RecordStore } from '../../ports/record-store.ts'
import { nameIn, timedText } from '../timed-text.ts'

/** A use to store. */
export interface NewTokenUse extends Omit<TokenUse, 'at'> {
  /** Milliseconds since the use. */
  readonly agoMs: number
}

/** Query for uses that match every given member, newest first. */
export interface TokenUseQuery {
  readonly tenant: string
  readonly jti?: string | undefined
  readonly sessionId?: string | undefined
  readonly outcome?: TokenUse['outcome'] | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Uses of session tokens. */
export interface TokenUseRecords {
  /**
   * Stores uses, each `useId` once: a stored use stays as it is. A caller that got no answer may repeat the call.
   *
   * @param uses At most 100.
   */
  record(uses: readonly NewTokenUse[]): Promise<void>
  list(query: TokenUseQuery): Promise<Page<TokenUse>>
  /** Removes uses that are older than this. Resolves to their number: fewer than `limit` means that none is left. */
  remove(removal: {
    readonly tenant?: string | undefined
    readonly usedForMs: number
    readonly limit: number
  }): Promise<number>
}

/** Kind of the records. Their expiry is the time of the use: the caller of a removal says how long they are kept. */
const KIND = 'token_uses'

/** Places of the sort texts. Each ends with the time of the use. */
const [BY_TIME, BY_TOKEN, BY_SESSION, BY_OUTCOME] = [0, 1, 2, 3] as const

export function tokenUseRecords(store: RecordStore): TokenUseRecords {
  return {
    async record(uses) {
      const now = await store.now()
      await store.changeRecords(uses.map(nameOf), (draft) => {
        for (const use of uses) if (!draft.get(nameOf(use))) draft.put(recordOf(use, now))
      })
    },
    async list({ tenant, jti, sessionId, outcome, ...page }) {
      const found = await store.listRecords({
        ...{ kind: KIND, tenant, isReverse: true, ...rangeOf({ jti, sessionId, outcome }), ...page },
        where(record) {
          const use = sortedBy(record)
          return (
            (sessionId === undefined || use.sessionId === sessionId) &&
            (outcome === undefined || use.outcome === outcome)
          )
        },
      })
      return { ...found, items: found.items.map(tokenUseOf) }
    },
    remove: ({ usedForMs, ...removal }) => store.removeRecords({ kind: KIND, expiredForMs: usedForMs, ...removal }),
  }
}

/** Chooses the sort text with the fewest records. */
function rangeOf({
  jti,
  sessionId,
  outcome,
}: Pick<TokenUseQuery, 'jti' | 'sessionId' | 'outcome'>): Pick<RecordQuery, 'by' | 'from' | 'until'> {
  if (jti !== undefined) return textsOf(BY_TOKEN, [jti])
  if (sessionId !== undefined) return textsOf(BY_SESSION, [sessionId])
  return outcome === undefined ? textsOf(BY_TIME, []) : textsOf(BY_OUTCOME, [outcome])
}

function textsOf(by: RecordQuery['by'], names: readonly string[]): Pick<RecordQuery, 'by' | 'from' | 'until'> {
  return { by, from: timedText(names, 0), until: timedText(names, Number.MAX_SAFE_INTEGER) }
}

function nameOf({ tenant, useId: key }: Pick<TokenUse, 'tenant' | 'useId'>): RecordName {
  return { kind: KIND, tenant, key }
}

function recordOf({ agoMs, ...use }: NewTokenUse, now: number): NewPluginRecord<object> {
  const { useId: _, tenant: __, sessionId, jti, outcome, ...body } = use
  const at = Math.floor(now - agoMs)
  const sort = [timedText([], at), timedText([jti], at), timedText([sessionId], at), timedText([outcome], at)]
  return { ...nameOf(use), sort, expiresAt: at, body }
}

function tokenUseOf(record: PluginRecord): TokenUse {
  const { tenant, key, body } = record
  const rest = body as Pick<TokenUse, 'operation' | 'code' | 'id' | 'times'>
  return { useId: key, tenant, ...sortedBy(record), ...rest }
}

/** Members that the sort texts hold. */
function sortedBy({ sort }: PluginRecord): Pick<TokenUse, 'sessionId' | 'jti' | 'outcome' | 'at'> {
  const [time, token = '', session = '', outcome = ''] = sort.map((text) => text ?? '')
  return {
    ...{ sessionId: nameIn(session), jti: nameIn(token) },
    ...{ outcome: nameIn(outcome) as TokenUse['outcome'], at: Number(time) },
  }
}
