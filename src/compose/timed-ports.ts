import { inTime } from '../core/answers/in-time.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import type { MessageGuard } from '../ports/message-guard.ts'
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
  readonly guard?: MessageGuard | undefined
}

const PORT_MS = 5_000

/** The given ports with a time limit: a call that is pending after it rejects with `no_answer`; its later result is dropped. */
export function timedPorts(ports: TimedPorts, clock: Clock): TimedPorts {
  const { auth, recipients, policy, rateLimiter, redactor, guard } = ports
  const limited = limitedBy(clock)
  return {
    ...(auth && { auth: limited(auth, 'verifier', ['verify', 'exchange', 'reasons']) }),
    ...(recipients && { recipients: limited(recipients, 'directory', ['find']) }),
    ...(policy && { policy: limited(policy, 'policy', ['decide']) }),
    ...(rateLimiter && { rateLimiter: limited(rateLimiter, 'rate limiter', ['consume']) }),
    ...(redactor && { redactor: limited(redactor, 'redactor', ['redact']) }),
    // Handlers plan and do not send.
    ...(guard && { guard: limited(guard, 'guard', ['check']) }),
  }
}

type Method = (...args: readonly unknown[]) => Awaitable<unknown>

/** Limited ports by port and role. A handler gets its ports with each call, and keeps what it remembers by limited port. */
const LIMITED = /* @__PURE__ */ new WeakMap<object, Map<string, { readonly clock: Clock; readonly limited: unknown }>>()

function limitedBy(clock: Clock) {
  /** An object with these members of a port alone: the core reads no others. What is no method stays as it is. */
  return <Port extends object, Name extends keyof Port & string>(
    port: Port,
    of: string,
    members: readonly Name[],
  ): Pick<Port, Name> => {
    // Handlers do not check their ports.
    if (Object(port) !== port) return port
    const roles = LIMITED.get(port) ?? new Map<string, { readonly clock: Clock; readonly limited: unknown }>()
    LIMITED.set(port, roles)
    const known = roles.get(of)
    if (known?.clock === clock) return known.limited as Pick<Port, Name>
    const limit = (name: Name): unknown => {
      if (typeof port[name] !== 'function') return port[name]
      const call = `${name}() of the ${of}`
      return (...args: Parameters<Method>) =>
        inTime(Reflect.apply(port[name] as Method, port, args), call, PORT_MS, clock)
    }
    const limited = Object.fromEntries(members.map((name) => [name, limit(name)])) as unknown as Pick<Port, Name>
    roles.set(of, { clock, limited })
    return limited
  }
}
