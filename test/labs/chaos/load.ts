import type { DispatchAnswer } from '../../../src/model/dispatch.ts'
import type { Chance } from './chance.ts'
import { passing } from './until.ts'

/** One answer, or none, to one post. */
export interface Answer {
  readonly order: string
  readonly port: number
  /** 0: the connection was refused or lost, or nothing came for long. */
  readonly status: number
  /** Epoch milliseconds. */
  readonly postedAt: number
  readonly at: number
}

/** What a 202 promised. */
export interface Accepted {
  readonly order: string
  readonly dispatchId: string
  readonly deliveryId: string
  /** Of the host that answered. */
  readonly port: number
  /** When it was first posted, and when the 202 came. Epoch milliseconds. */
  readonly postedAt: number
  readonly at: number
}

/** Callers that post until each of their events is accepted: the same again, with the same key, after anything but a 202. */
export interface Load {
  readonly answers: readonly Answer[]
  readonly accepted: readonly Accepted[]
  /** Resolves when all that was begun is accepted. */
  readonly done: Promise<void>
  /** Resolves at the very moment when so many are accepted, with the last of them. */
  reached(count: number): Promise<Accepted>
  /** Begins no more events. */
  stop(): void
  /** Posts nothing more, whatever was accepted of it. */
  abandon(): void
}

/** How it is posted. */
export interface LoadOptions {
  readonly secret: string
  readonly chance: Chance
  /** Where hosts listen at the moment. */
  readonly ports: () => readonly number[]
  /** What its orders are called by. Default: `order`. */
  readonly name?: string
  /** Events. Default: until it is stopped. */
  readonly total?: number
  /** How many events may be begun so far: callers wait for more. Default: all. */
  readonly allowed?: () => number
  /** Callers at the same time. Default: 8. */
  readonly callers?: number
  /** Milliseconds that each of them waits between its events, at most. Default: 0. */
  readonly pauseMs?: number
  /** Default: `order.shipped`. */
  readonly eventType?: string
  /** Whether posts have an `Idempotency-Key`. Without one nothing is posted again. Default: they do. */
  readonly hasKeys?: boolean
}

/** So long a caller waits for an answer before it believes that none will come. */
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
