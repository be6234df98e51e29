import type { TokenUse } from '../../model/token-use.ts'
import type { Documents } from '../../ports/documents.ts'
import type { NewTokenUse, Revocation, TokenStore, TokenUseQuery } from '../../ports/token-store.ts'
import { timePart } from '../rules/time-part.ts'
import { documentKey, prefixOf } from './keys.ts'
import { readPage, walkDocuments } from './pages.ts'
import { type DocumentEntries, transact } from './transaction.ts'

type StoredRevocation = Omit<Revocation, 'endsInMs'> & { readonly until: number }

/** Revocations in the order of their commits: `revocations/<sequence>`. */
const REVOCATIONS = 'revocations/'

/** Its document counts revocations; every one changes it. */
const REVOKED = 'revoked'

/** Uses of all tenants, by time. */
const ALL_USES = 'all-token-uses/'

/** Ids of stored uses: `token-use-ids/<useId>`. */
const USE_IDS = 'token-use-ids/'
const STORED = 1

/** Limit of expired revocations removed by one call. */
const MAX_REMOVED = 100

export function documentTokens(documents: Documents): TokenStore {
  async function* openRevocations(after: number) {
    const now = await documents.now()
    // The list begins after the key of this sequence.
    for await (const { text } of walkDocuments(documents, REVOCATIONS, { first: 'oldest', since: after })) {
      const { until, ...revocation }: StoredRevocation = JSON.parse(text)
      if (until > now) yield { ...revocation, endsInMs: until - now }
    }
  }

  async function removeExpired(): Promise<void> {
    const rows = await documents.list(REVOCATIONS, { limit: MAX_REMOVED })
    const now = await documents.now()
    const expired = rows.filter(({ text }) => JSON.parse(text).until <= now)
    if (expired.length > 0)
      await documents.commit(expired.map(({ key, text }) => ({ key, before: text, after: undefined })))
  }

  return {
    async revokeTokens({ keptForMs, ...revocation }) {
      await transact(documents, async (tx) => {
        const sequence = ((await tx.get<number>(REVOKED)) ?? 0) + 1
        tx.put(REVOKED, sequence)
        tx.create(REVOCATIONS + timePart(sequence), { ...revocation, sequence, until: tx.now + keptForMs })
      })
      await removeExpired()
    },

    async listRevocations(after, limit) {
      const found: Revocation[] = []
      for await (const revocation of openRevocations(after)) {
        if (found.push(revocation) >= limit) break
      }
      return found
    },

    async recordTokenUses(uses) {
      await transact(documents, async (tx) => {
        await Promise.all(uses.map(({ useId }) => tx.get(idKey(useId))))
        for (const use of uses) {
          if (await tx.get(idKey(use.useId))) continue
          tx.put(idKey(use.useId), STORED)
          tx.index({}, entriesOf(tokenUse(use, tx.now)))
        }
      })
    },

    listTokenUses: (query) =>
      readPage<TokenUse, TokenUse>(
        documents,
        usesOf(query.tenant),
        { ...query, first: 'newest' },
        { fits: (use) => fits(use, query), read: async (use) => use },
      ),

    async removeTokenUses({ tenant, usedForMs, limit }) {
      const until = (await documents.now()) - usedForMs
      let removed = 0
      for await (const { text } of walkDocuments(documents, ALL_USES, { first: 'oldest', until })) {
        if (removed >= limit) break
        const use: TokenUse = JSON.parse(text)
        if (tenant !== undefined && use.tenant !== tenant) continue
        const changes = Object.keys(entriesOf(use)).map((entry) => ({ key: entry, before: text, after: undefined }))
        const id = { key: idKey(use.useId), before: String(STORED), after: undefined }
        if (await documents.commit([...changes, id])) removed += 1
      }
      return removed
    },
  }
}

function usesOf(tenant: string): string {
  return prefixOf('token-uses', tenant)
}

function idKey(useId: string): string {
  return USE_IDS + documentKey(useId)
}

function tokenUse({ agoMs, ...use }: NewTokenUse, now: number): TokenUse {
  return { ...use, at: Math.floor(now - agoMs) }
}

/** The same document in the list of its tenant and in that of all. */
function entriesOf(use: TokenUse): DocumentEntries {
  const position = `${timePart(use.at)}/${documentKey(use.useId)}`
  return { [usesOf(use.tenant) + position]: use, [ALL_USES + position]: use }
}

function fits(use: TokenUse, { jti, sessionId, outcome }: TokenUseQuery): boolean {
  return (
    (jti === undefined || use.jti === jti) &&
    (sessionId === undefined || use.sessionId === sessionId) &&
    (outcome === undefined || use.outcome === outcome)
  )
}
