import { expect } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { ApprovalAction } from '../../../src/model/approval.ts'
import type { ApprovalResult, ConsumedApproval } from '../../../src/model/approval-calls.ts'
import type { Principal } from '../../../src/model/principal.ts'
import { type ApprovalsApi, approvals } from '../../../src/plugins/approvals/approvals.ts'
import type { ApprovalEvent, ApprovalsOptions } from '../../../src/plugins/approvals/check-options.ts'
import type { ApprovalInput } from '../../../src/plugins/approvals/service.ts'
import type { Plugin } from '../../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, type RecordingLogger, recordingLogger } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'

export const ADA = 'ada@example.com'
export const BOB = 'bob@example.com'
export const REFUND = { name: 'refund', args: { orderId: 'A-1', amount: 900 } }
export const NAME = { sessionId: 's1', approvalId: 'refund-1' }
export const HOUR_MS = 3_600_000

const asks = ({ data }: { readonly data: unknown }, link: string | undefined): string =>
  `${Object(data).approval.message} ${link}`

const EVENTS: EventCatalog = defineEvents({
  'refund.approval': { critical: true, channels: { a: { text: (facts) => asks(facts, facts.links?.answer) } } },
  'plain.approval': { critical: true, channels: { a: { text: () => 'no link' } } },
  'refund.answered': { channels: { a: { text: ({ data }) => `answered ${Object(data).approval?.status}` } } },
})

const PRINCIPALS: Readonly<Record<string, Principal>> = {
  asker: { id: 'asker', tenant: 'default', operations: ['approval', 'dispatch', 'session_run'] },
  manager: { id: 'manager', tenant: 'default', operations: ['manage', 'read'] },
  foreign: { id: 'foreign', tenant: 'other', operations: ['approval', 'manage', 'read'] },
  session: { id: 'session', tenant: 'default', sessionId: 's1', operations: ['approval', 'manage', 'dispatch'] },
}

interface Hosting extends Omit<Partial<SallyportOptions<unknown>>, 'clock'> {
  readonly clock?: FakeClock
  readonly event?: Partial<ApprovalEvent>
  readonly options?: Partial<ApprovalsOptions>
  /** Plugins beside this one. */
  readonly beside?: readonly Plugin[]
}

/** A host with approvals, its clock, and calls of it. */
export interface ApprovalHost {
  readonly sallyport: Sallyport<unknown> & ApprovalsApi
  readonly clock: FakeClock
  readonly logger: RecordingLogger
  readonly a: RecordingChannel
  /** Sends a request; the status and the body of the answer. */
  ask(path: string, token: string, body?: object): Promise<{ readonly status: number; readonly body: Answered }>
  /** Sends a request to the page of a link. */
  get(token: string, init?: RequestInit): Promise<Response>
  /** Sends the form of the page. */
  post(token: string, fields: Readonly<Record<string, string>>): Promise<Response>
  /** Asks for {@link REFUND}. */
  request(more?: Partial<ApprovalInput>): Promise<ApprovalResult>
  answer(user?: string, answer?: 'accept' | 'decline', more?: object): Promise<ApprovalResult>
  /** @param action `null`: none. Default: {@link REFUND}. */
  use(useId?: string, action?: ApprovalAction | null): Promise<ConsumedApproval>
  /** The recipient and the status of all dispatches of an event, the oldest first. */
  statuses(eventType?: string): Promise<readonly string[]>
}

/** A host with approvals, on a fake clock. */
export function approving({
  event,
  options,
  clock = fakeClock(Date.UTC(2027, 0, 15, 12)),
  beside = [],
  ...rest
}: Hosting = {}): ApprovalHost {
  const logger = recordingLogger()
  const a = recordingChannel()
  const rule: ApprovalEvent = { approvers: () => [ADA, BOB], ...event }
  const plugin = approvals({ events: { 'refund.approval': rule, 'plain.approval': rule }, ...options })
  const sallyport = createSallyport<unknown>({
    ...{ clock, logger, events: EVENTS, store: memoryStore({ clock }), ids: countingIds(), channels: { a } },
    auth: { verify: async (token) => PRINCIPALS[token] ?? { refused: 'invalid_token' } },
    links: { baseUrl: 'https://shop.test', keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
    ...rest,
    plugins: [...beside, plugin],
  }) as Sallyport<unknown> & ApprovalsApi
  const handle = toFetch(sallyport)

  const send = (path: string, init: RequestInit): Promise<Response> =>
    handle(new Request(`http://shop.test${path}`, init))
  const get: ApprovalHost['get'] = (token, init = {}) =>
    send(`/api/outbound/approval/${encodeURIComponent(token)}`, init)

  return {
    ...{ sallyport, clock, logger, a, get },
    async ask(path, token, body) {
      const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
      const answer = await send(path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
      return { status: answer.status, body: (await answer.json()) as Answered }
    },
    post: (token, fields) => get(token, { method: 'POST', body: new URLSearchParams(fields) }),
    request: (more = {}) =>
      sallyport.approvals.request({
        ...{ ...NAME, runId: 'r1', eventType: 'refund.approval', message: 'Refund 900 USD?', action: REFUND },
        ...more,
      }),
    answer: (user = ADA, answer = 'accept', more = {}) =>
      sallyport.approvals.answer({ ...NAME, user, answer, ...more }),
    use: (useId = 'u1', action = REFUND) => sallyport.approvals.consume({ ...NAME, useId, ...(action && { action }) }),
    async statuses(eventType = 'refund.approval') {
      const { items } = await sallyport.dispatches.list({ eventType })
      return items.map(({ recipient, status }) => `${recipient} ${status}`).reverse()
    },
  }
}

type Answered = Readonly<Record<string, unknown>>

/** The code and the status with which a call is refused. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  const thrown: unknown = await call.then(
    () => expect.fail('was not refused'),
    (cause: unknown) => cause,
  )
  const { code, status, errors = [] } = Object(thrown)
  const places = (errors as { pointer: string; code: string }[]).map(({ pointer, code: at }) => ` ${pointer} ${at}`)
  if (typeof code !== 'string') throw thrown
  return `${status} ${code}${places.join('')}`
}
