import type { JsonObject } from '../../../model/json.ts'
import type { Suppression } from '../../../model/suppression.ts'
import type { TokenUse } from '../../../model/token-use.ts'
import type { StoredFeedback } from '../../../ports/feedback-store.ts'
import type { StatisticsRow } from '../../../ports/statistics-store.ts'

/** Declaration of a kind of plugin records. */
export interface RecordKind<Body = Readonly<Record<string, unknown>>> {
  /** Name of the plugin that keeps them. */
  readonly plugin: string
  /** Names of its sort texts, which are the columns `a` to `d`: its records are found and listed by each of them. */
  readonly sort?: readonly string[]
  /** Its records have an instant from which their removal counts. */
  readonly expires?: true
  /** Members of its body with data of a person, which an erasure removes. A keyed hash of an address is none: suppressions keep it. */
  readonly personal?: readonly (keyof Body)[]
  /** Its records are found without a tenant. */
  readonly global?: true
}

/** Data of a record besides its key, sort texts and expiry, by kind. Stored as JSON: records of older versions lack new members. */
export interface RecordBodies {
  readonly suppressions: Omit<Suppression, 'suppressionId' | 'addressKey' | 'expiresAt'>
  readonly preferences: { readonly tenant: string; readonly preferences: JsonObject }
  readonly feedback: Omit<StoredFeedback, 'feedbackId' | 'tenant' | 'owner'>
  readonly token_uses: Pick<TokenUse, 'operation' | 'code' | 'id' | 'times'>
  readonly statistics: Pick<StatisticsRow, 'revision' | 'counts'>
  readonly heartbeats: object
}

export type KindName = keyof RecordBodies

/** All kinds. To add one: a line here and its body above; never a migration. */
export const PLUGIN_KINDS = {
  /** Global, as preferences are: its port finds them by keyed hashes of tenant and address. */
  suppressions: { plugin: 'consent', sort: ['address', 'listed'], expires: true, global: true },
  preferences: { plugin: 'consent', personal: ['preferences'], global: true },
  feedback: { plugin: 'consent', sort: ['owner'], expires: true },
  token_uses: { plugin: 'agentTokens', sort: ['time', 'token', 'session', 'outcome'], expires: true },
  /** Listed by the key: step, start and counter. */
  statistics: { plugin: 'statistics', expires: true },
  heartbeats: { plugin: 'statistics', expires: true, global: true },
} as const

const DECLARED: { readonly [Name in KindName]: RecordKind<RecordBodies[Name]> } = PLUGIN_KINDS

/** Name of the plugin that keeps records of a stored kind: `<plugin>.<kind>`, or one of those above. */
export function pluginOf(kind: string): string {
  const own: Readonly<Record<string, RecordKind<never>>> = DECLARED
  return own[kind]?.plugin ?? kind.split('.', 1)[0] ?? kind
}

export function sortNames(kind: KindName): readonly string[] {
  return DECLARED[kind].sort ?? []
}

type Kind<Name extends KindName> = (typeof PLUGIN_KINDS)[Name]

/** Names of the sort texts of a kind. */
export type SortName<Name extends KindName> =
  Kind<Name> extends { readonly sort: readonly (infer Sort extends string)[] } ? Sort : never

/** Whether a kind declares `expires` or `global`. */
export type Has<Name extends KindName, Flag extends 'expires' | 'global'> =
  Kind<Name> extends Readonly<Record<Flag, true>> ? true : false
