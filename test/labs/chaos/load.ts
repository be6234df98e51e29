import type { DispatchAnswer } from '../../../src/model/dispatch.ts'
import type { Chance } from './chance.ts'
import { passing } from './until.ts'

/** One answer to a post, or none. */
export interface Answer {
  readonly order: string
  readonly port: number
  /** 0: the connection was refused or lost, or no answer came in time. */
  readonly status: number
  /** Epoch milliseconds. */
  readonly postedAt: number
  readonly at: number
}

/** An event accepted with 202. */
export interface Accepted {
  readonly order: string
  readonly dispatchId: string
  readonly deliveryId: string
  /** Port of the host that answered. */
  readonly port: number
  /** Time of the first post and of the 202, in epoch milliseconds. */
  readonly postedAt: number
  readonly at: number
}

/** Callers that post each event until it is accepted, with the same key after any answer but 202. */
export interface Load {
  readonly answers: readonly Answer[]
  readonly accepted: readonly Accepted[]
  /** Resolves when all begun events are accepted. */
  readonly done: Promise<void>
  /** Resolves with the last event at the moment when this many are accepted. */
  reached(count: number): Promise<Accepted>
  /** Begins no more events. */
  stop(): void
  /** Ends all posting at once. */
  abandon(): void
}

/** Options of a load. */
export interface LoadOptions {
  readonly secret: string
  readonly chance: Chance
  /** Current ports of the hosts. */
  readonly ports: () => readonly number[]
  /** Prefix of its order names. Default: `order`. */
  readonly name?: string
  /** Number of events. Default: until stopped. */
  readonly total?: number
  /** Number of events that may have begun so far; callers wait for more. Default: all. */
  readonly allowed?: () => number
  /** Concurrent callers. Default: 8. */
  readonly callers?: number
  /** Maximum pause of each caller between its events, in milliseconds. Default: 0. */
  readonly pauseMs?: number
  /** Default: `order.shipped`. */
  readonly eventType?: string
  /** Whether posts have an `Idempotency-Key`. Without one no post is repeated. Default: they do. */
  readonly hasKeys?: boolean
}

/** Time after which a caller gives up on an answer. */
const ANSWER_CAP_MS = 30_000

export function startLoad(options: LoadOptions): Load {
  const { secret, chance, ports, total = Number.POSITIVE_INFINITY, callers = 8, pauseMs = 0, hasKeys = true } = options
  const { name = 'order', eventType = 'order.shipped', allowed = () => total } = options
  const answers: Answer[] = []
  const accepted: Accepted[] = []
  const waiting: { readonly count: number; readonly wake: (last: Accepted) => void }[] = []
  let begun = 0
  let isStopped = false
  let isAbandoned = false

  function accept(one: Accepted): void {
    accepted.push(one)
    for (const { count, wake } of waiting) if (accepted.length >= count) wake(one)
  }

  async function post(order: string, firstAt: number): Promise<boolean> {
    const open = ports()
    const postedAt = Date.now()
    let status = 0
    if (open.length === 0) return false
    const port = chance.of(open)
    try {
      const response = await fetch(`http://127.0.0.1:${port}/api/outbound/dispatch`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${secret}`,
          ...(hasKeys && { 'idempotency-key': order }),
        },
        body: JSON.stringify({ eventType, recipient: `${order}@example.com`, eventData: { order } }),
        signal: AbortSignal.timeout(ANSWER_CAP_MS),
      })
      const answer = (await response.json()) as DispatchAnswer
      status = response.status
      const at = Date.now()
      if (status === 202) {
        const { dispatchId, deliveries } = answer
        accept({ order, dispatchId, deliveryId: deliveries[0]?.deliveryId ?? '', port, postedAt: firstAt, at })
      }
    } catch {
      status = 0
    }
    answers.push({ order, port, status, postedAt, at: Date.now() })
    return status === 202
  }

  async function call(): Promise<void> {
    while (!isStopped && begun < total) {
      if (begun >= allowed()) {
        await passing(5)
        continue
      }
      const order = `${name}-${++begun}`
      const firstAt = Date.now()
      while (!(await post(order, firstAt)) && hasKeys && !isAbandoned) await passing(chance.between(20, 80))
      if (pauseMs > 0) await passing(chance.between(0, pauseMs))
    }
  }

  const done = Promise.all(Array.from({ length: callers }, call)).then(() => {})
  return {
    ...{ answers, accepted, done },
    reached(count) {
      const last = accepted.at(-1)
      if (last && accepted.length >= count) return Promise.resolve(last)
      return new Promise((wake) => waiting.push({ count, wake }))
    },
    stop() {
      isStopped = true
    },
    abandon() {
      isStopped = isAbandoned = true
    },
  }
}
