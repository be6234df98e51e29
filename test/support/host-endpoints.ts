import {
  type HandlerRequest,
  type HandlerResult,
  problem,
  type Refused,
  refuse,
  success,
} from '../../src/core/answers/result.ts'
import type {
  Action,
  ActionRoute,
  Endpoints,
  OpenAction,
  OpenAnswer,
  OpenEndpoint,
  OpenHandler,
  OpenRequest,
} from '../../src/core/endpoints.ts'
import { type Load, loadOf } from '../../src/core/load/load-limits.ts'
import type { Principal } from '../../src/model/principal.ts'
import { ALL_CALLS, ALL_POSTS } from './actions.ts'
import { type RecordingLogger, recordingLogger } from './deps.ts'
import { HostClock } from './host-clock.ts'

export const TOKEN = 'Bearer good'

/** A request that reached the handler of an open endpoint. */
export interface Opened extends OpenRequest {
  /** Name of the action. */
  readonly action: string
  readonly parameter: string
}

/** One open endpoint of bytes and one of forms. */
const OPEN: readonly Omit<OpenAction, 'find'>[] = [
  {
    ...{ name: 'feedback', methods: ['POST'], path: '/api/outbound/feedback/', parameter: '{name}' },
    ...{ maxBytes: 1_048_576, accepts: 'bytes' },
  },
  {
    ...{
      name: 'unsubscribe',
      methods: ['GET', 'HEAD', 'POST'],
      path: '/api/outbound/unsubscribe/',
      parameter: '{token}',
    },
    ...{ maxBytes: 65_536, accepts: 'form' },
  },
]

/** Endpoints that return their input, for tests of the transport alone. */
export class FakeEndpoints implements Endpoints {
  readonly clock: HostClock = new HostClock()
  readonly logger: RecordingLogger = recordingLogger()
  readonly load: Load = loadOf({}, this.logger)
  readonly handled: HandlerRequest[] = []
  readonly refusals: Refused[] = []
  /** Awaited before every answer, if set. */
  held: Promise<void> | undefined
  /** Called when a request reaches the handler. */
  onHandle: () => void = () => {}

  readonly reported: unknown[] = []

  report(cause: unknown): void {
    this.reported.push(cause)
  }

  async authenticate(headers: HandlerRequest['headers'], _action: ActionRoute): Promise<Principal | Refused> {
    if (headers.authorization === TOKEN) return { id: 'test', tenant: 'default' }
    return headers.authorization === undefined
      ? refuse('unauthorized', 'No token.', { headers: { 'www-authenticate': 'Bearer realm="sallyport"' } })
      : refuse('invalid_token', 'Bad token.')
  }

  async handle(
    { name: operation }: Action,
    _principal: Principal,
    request: HandlerRequest,
  ): Promise<HandlerResult<unknown>> {
    this.handled.push(request)
    this.onHandle()
    await this.held
    const { body, query } = request
    return success(operation === 'dispatch' ? 202 : 201, { operation, body, query }, { 'x-answered': 'yes' })
  }

  readonly opened: Opened[] = []
  openAnswer: HandlerResult<unknown> | OpenAnswer = success(200, { open: true }, { 'x-answered': 'yes' })

  /** Refuses every open endpoint. */
  openRefusal: Refused | undefined
  /** Further members of every open endpoint. */
  openMembers: Omit<OpenEndpoint, 'handle'> = {}

  readonly actions: readonly Action[] = [...ALL_POSTS, ...ALL_CALLS].map((action) => ({
    ...action,
    run: () => refuse('internal_error', 'handle() does not call it.'),
  }))

  readonly open: readonly OpenAction[] = OPEN.map((action) => ({
    ...action,
    find: (parameter) => this.find(action.name, parameter),
  }))

  /** Finds every parameter except `unknown`. */
  private find(action: string, parameter: string): ReturnType<OpenAction['find']> {
    if (parameter === 'unknown') return undefined
    if (this.openRefusal) return this.openRefusal
    const handle: OpenHandler = async (request) => {
      this.opened.push({ action, parameter, ...request })
      this.onHandle()
      await this.held
      return this.openAnswer
    }
    return { handle, ...this.openMembers }
  }

  recheck(): undefined {}

  stopping = false

  isStopping(): boolean {
    return this.stopping
  }

  publishing = false

  hasWork(): boolean {
    return this.publishing
  }

  delivered = 0

  async deliver(): Promise<void> {
    this.delivered += 1
  }

  refuse(refused: Refused): HandlerResult<never> {
    this.refusals.push(refused)
    return problem(refused, 'req_test')
  }
}
