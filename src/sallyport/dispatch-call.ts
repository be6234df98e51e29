import { matching, text, whole } from '../options/checks.ts'
import { type Checks, problemsIn } from '../options/read-options.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import { tenant } from './call-checks.ts'
import type { TenantScope } from './pagination.ts'

/** How `sallyport.dispatch` is to act. */
export interface DispatchCallOptions extends TenantScope {
  /** As the `Idempotency-Key` header: a second call with this key gets the first one's answer, whatever its `delayMs`. */
  readonly idempotencyKey?: string
  /** Milliseconds until it is to be sent, instead of the event's own delay; 0 to 366 days. */
  readonly delayMs?: number
  /**
   * Accepts through this store instead: within a transaction of the host's own, by what `sqlStore().within(transaction)` gives.
   * Nothing is sent before that is committed, and nothing at all when it is rolled back. Default: the store of Sallyport.
   */
  readonly store?: DispatchStore
}

const CHECKS: Checks<DispatchCallOptions> = {
  tenant,
  idempotencyKey: text,
  delayMs: whole(0, 366 * 86_400_000),
  store: matching(isStore, 'is no store'),
}

/** Says what is wrong with the options of a call that accepts an event; `undefined`: nothing. */
export function faultOfDispatchCall(options: object): string | undefined {
  const problems = [...problemsIn(options, CHECKS)]
  // Who names a store means not to accept through the other one.
  if (options && Object.hasOwn(options, 'store') && Reflect.get(options, 'store') === undefined) {
    problems.push({ field: 'store', detail: 'is undefined' })
  }
  if (problems.length === 0) return undefined
  return `${problems.map(({ field = 'the second argument', detail }) => `${field} ${detail}`).join('; ')}.`
}

function isStore(value: unknown): boolean {
  const { accept, recall } = Object(value)
  return typeof accept === 'function' && typeof recall === 'function'
}
