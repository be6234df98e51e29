import { answering } from '../core/answers/fault.ts'
import { forHostCall } from '../core/answers/report-fault.ts'
import { type HandlerResult, refuse } from '../core/answers/result.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import type { DispatchAnswer } from '../model/dispatch.ts'
import type { Principal } from '../model/principal.ts'
import { has, text, whole } from '../options/checks.ts'
import { type Checks, problemsIn } from '../options/read-options.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import { type TenantScope, tenant } from './call-checks.ts'

/** Options of `sallyport.dispatch`. */
export interface DispatchCallOptions extends TenantScope {
  /** As the `Idempotency-Key` header: a second call with this key gets the first answer, whatever its `delayMs`. */
  readonly idempotencyKey?: string
  /** Delay in milliseconds, instead of the event's own; 0 to 366 days. */
  readonly delayMs?: number
  /** Store for this call, such as `sqlStore().within(transaction)`: sends only after the commit. Default: the configured store. */
  readonly store?: DispatchStore
}

const CHECKS: Checks<DispatchCallOptions> = {
  tenant,
  idempotencyKey: text,
  delayMs: whole(0, 366 * 86_400_000),
  store: has('what store.within(transaction) returned', 'accept', 'recall'),
}

export function hostPrincipal(tenant: string): Principal {
  return { id: 'host', tenant }
}

export async function dispatchFromHost(
  event: unknown,
  options: DispatchCallOptions,
  deps: DispatchDeps,
): Promise<HandlerResult<DispatchAnswer>> {
  const callDeps = forHostCall(deps)
  const result = await answering(callDeps, async () => {
    const fault = faultOf(options)
    if (fault !== undefined) return refuse('validation_failed', fault)
    const { tenant = 'default', idempotencyKey, delayMs, store = deps.store } = options
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    return planAndAccept(hostPrincipal(tenant), { headers, body: event }, { ...callDeps, store }, { delayMs })
  })
  // Only a request with `dryRun` gets a preview.
  return result as HandlerResult<DispatchAnswer>
}

function faultOf(options: object): string | undefined {
  const problems = [...problemsIn(options, CHECKS)]
  // `{ store: undefined }` is a mistake: its event must not be accepted outside the host's transaction.
  if (options && Object.hasOwn(options, 'store') && Reflect.get(options, 'store') === undefined) {
    problems.push({
      field: 'store',
      detail: 'is undefined; pass what store.within(transaction) returned, or leave it out',
    })
  }
  if (problems.length === 0) return undefined
  return `${problems.map(({ field = 'the second argument', detail }) => `${field} ${detail}`).join('; ')}.`
}
