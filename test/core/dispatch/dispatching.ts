import type { HandlerResult } from '../../../src/core/answers/result.ts'
import { handleDispatch } from '../../../src/core/dispatch/handle-dispatch.ts'
import type { Issue, Problem } from '../../../src/errors.ts'
import type { Dispatch, DispatchAnswer, DispatchPreview } from '../../../src/model/dispatch.ts'
import type { ClaimedDelivery } from '../../../src/ports/dispatch-store.ts'
import type { TemplateEngine } from '../../../src/ports/template-engine.ts'
import { APP, type TestDeps } from '../../support/deps.ts'

/** An event of `orderEvents`: email is sent; sms has no address. */
export const ORDER = {
  eventType: 'order.shipped',
  recipient: 'jane@example.com',
  eventData: { orderId: 'A-1', total: 120 },
}

/** Posts a body, by default as the application. */
export function post(
  deps: TestDeps,
  body: unknown = ORDER,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  query?: Readonly<Record<string, string | readonly string[]>>,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview>> {
  return handleDispatch({ headers: { ...APP, ...headers }, body, ...(query && { query }) }, deps)
}

/** The answer to a body that must be accepted. */
export async function accepted(
  deps: TestDeps,
  body: unknown = ORDER,
  headers: Readonly<Record<string, string>> = {},
): Promise<DispatchAnswer> {
  const answer = await post(deps, body, headers)
  if (!answer.ok || !('dispatchId' in answer.body)) throw new Error(`was not accepted: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** The problem of a body that must be refused. */
export async function refused(
  deps: TestDeps,
  body: unknown = ORDER,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<Problem> {
  const answer = await post(deps, body, headers)
  if (answer.ok) throw new Error(`was not refused: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Pointer and code of each fault of a problem. */
export function places({ errors = [] }: Problem): (readonly [string, Issue['code']])[] {
  return errors.map(({ pointer, code }) => [pointer, code] as const)
}

/** All dispatches of a tenant, newest first. */
export async function stored({ store }: TestDeps, tenant = 'default'): Promise<readonly Dispatch[]> {
  return (await store.listDispatches({ tenant, limit: 10_000 })).items
}

/** The deliveries of the newest dispatch, as `channel: status reason attempts`. */
export async function outcomes(deps: TestDeps): Promise<readonly string[]> {
  const [dispatch] = await stored(deps)
  return (dispatch?.deliveries ?? []).map(({ channel, status, reason, attempts }) =>
    [`${channel}:`, status, ...(reason ? [reason] : []), attempts].join(' '),
  )
}

/** Claims the one due delivery. */
export async function claimOne({ store, channels }: TestDeps, leaseMs = 30_000): Promise<ClaimedDelivery> {
  const limits = Object.fromEntries(Object.keys(channels).map((name) => [name, 10]))
  const { deliveries } = await store.claim({ leaseMs, limits, busy: [] })
  const [claimed, ...more] = deliveries
  if (!claimed || more.length > 0) throw new Error(`${deliveries.length} deliveries are due`)
  return claimed
}

/** An engine for paths such as `{{ data.order.id }}`; `{{ fail }}` fails, and an unclosed `{{` does not compile. */
export const braces: TemplateEngine = {
  compile(source, escaping) {
    const open = source.replaceAll(/\{\{[^}]*\}\}/g, (found) => ' '.repeat(found.length)).indexOf('{{')
    if (open >= 0) return { fault: 'is not closed', line: 1, column: open + 1 }
    return (facts) => {
      const missing: string[] = []
      const text = source.replaceAll(/\{\{ *([^} ]*) *\}\}/g, (_, path: string) => {
        const value = path
          .split('.')
          .reduce<unknown>((at, key) => (at ? Reflect.get(Object(at), key) : undefined), facts)
        if (value === undefined) missing.push(path)
        return escaping === 'html' ? String(value).replaceAll('<', '&lt;') : String(value)
      })
      const [path] = missing
      if (path === 'fail') return { outcome: 'error', detail: 'failed' }
      return path === undefined ? { outcome: 'rendered', text } : { outcome: 'missing', path }
    }
  },
}

/** A promise and the function that resolves it. */
export interface Gate<T> {
  readonly promise: Promise<T>
  open(value: T): void
}

export function gate<T>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}
