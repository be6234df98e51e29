import { SallyportError } from '../errors.ts'
import { type Awaitable, isPromise } from '../model/awaitable.ts'
import { withTimeout } from '../model/time-out.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import type { FeedbackSource } from '../ports/feedback-source.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { RecipientDirectory } from '../ports/recipient-directory.ts'
import type { Redactor } from '../ports/redactor.ts'

/** Ports of a host whose calls a request waits for. */
export interface TimedPorts {
  readonly auth?: AuthVerifier | undefined
  readonly recipients?: RecipientDirectory | undefined
  readonly policy?: DeliveryPolicy | undefined
  readonly rateLimiter?: RateLimiter | undefined
  readonly redactor?: Redactor | undefined
  readonly feedback?: Readonly<Record<string, FeedbackSource>> | undefined
}

const PORT_MS = 5_000
/** Providers repeat their requests, and a source may fetch a certificate. */
const SOURCE_MS = 10_000

/** The given ports with a time limit: a call that is pending after it rejects with `no_answer`; its later result is dropped. */
export function timedPorts(ports: TimedPorts, clock: Clock): TimedPorts {
  const { auth, recipients, policy, rateLimiter, redactor, feedback } = ports
  const limited = limitedBy(clock)
  return {
    ...(auth && { auth: limited(auth, 'verifier', auth.exchange ? ['verify', 'exchange'] : ['verify']) }),
    ...(recipients && { recipients: limited(recipients, 'directory', ['find']) }),
    ...(policy && { policy: limited(policy, 'policy', ['decide']) }),
    ...(rateLimiter && { rateLimiter: limited(rateLimiter, 'rate limiter', ['consume']) }),
    ...(redactor && { redactor: limited(redactor, 'redactor', ['redact']) }),
    ...(feedback && { feedback: mapValues(feedback, (source) => limitedSource(source, limited)) }),
  }
}

type Limited = ReturnType<typeof limitedBy>
type Method = (...args: readonly unknown[]) => Awaitable<unknown>

/** Limited ports by port and role. A handler gets its ports with each call, and keeps what it remembers by limited port. */
const LIMITED = /* @__PURE__ */ new WeakMap<object, Map<string, { readonly clock: Clock; readonly limited: unknown }>>()

function limitedBy(clock: Clock) {
  /** An object with these methods of a port alone: the core calls no others. */
  return <Port extends object, Name extends keyof Port & string>(
    port: Port,
    of: string,
    methods: readonly Name[],
    ms = PORT_MS,
  ): Pick<Port, Name> => {
    // Handlers do not check their ports.
    if (Object(port) !== port) return port
    const roles = LIMITED.get(port) ?? new Map<string, { readonly clock: Clock; readonly limited: unknown }>()
    LIMITED.set(port, roles)
    const known = roles.get(of)
    if (known?.clock === clock) return known.limited as Pick<Port, Name>
    const limit = (name: Name): Method => {
      const fallback = (): never => {
        throw new SallyportError('no_answer', `${name}() of the ${of} did not answer within ${ms / 1_000} s`)
      }
      return (...args) => {
        const given: Awaitable<unknown> = Reflect.apply(port[name] as Method, port, args)
        return isPromise(given) ? withTimeout(given, { ms, clock, fallback }) : given
      }
    }
    const limited = Object.fromEntries(methods.map((name) => [name, limit(name)])) as unknown as Pick<Port, Name>
    roles.set(of, { clock, limited })
    return limited
  }
}

function limitedSource(source: FeedbackSource, limited: Limited): FeedbackSource {
  const { tenant, channel, maxBytes } = source
  return {
    ...{ tenant, channel },
    ...(maxBytes !== undefined && { maxBytes }),
    // Synchronous.
    ...(source.head && { head: source.head.bind(source) }),
    ...limited(source, 'feedback source', ['receive'], SOURCE_MS),
  }
}

function mapValues<T>(record: Readonly<Record<string, T>>, to: (value: T) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))
}
