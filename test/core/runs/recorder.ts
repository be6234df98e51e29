import type { HandlerResult } from '../../../src/core/answers/result.ts'
import { handleSessionRun } from '../../../src/core/runs/handle-session-run.ts'
import type { SessionRunDeps } from '../../../src/core/runs/record-deps.ts'
import type { Issue, Problem } from '../../../src/errors.ts'
import type { AnsweredRun } from '../../../src/model/run.ts'
import type { RunAnswer } from '../../../src/model/run-post.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'

export const NOW: number = Date.parse('2026-11-21T08:00:00.000Z')

/** A clock that stands still until it is moved. */
export function stillClock(): Clock & { advance(ms: number): void } {
  let now = NOW
  return {
    now: () => now,
    after: () => () => {},
    advance(ms) {
      now += ms
    },
  }
}

export interface LogLine {
  readonly event: string
  readonly fields: object
}

/** Posts runs to a memory store. Tokens: `app`, `other` (of another tenant), `s1` (of the session s1), `broken`. */
export function recorder(more: Partial<SessionRunDeps & { readonly store: RunStore }> = {}): {
  deps: SessionRunDeps & { readonly store: RunStore }
  clock: ReturnType<typeof stillClock>
  lines: LogLine[]
  post(run: unknown, options?: PostOptions): Promise<HandlerResult<RunAnswer>>
} {
  const clock = stillClock()
  const lines: LogLine[] = []
  let ids = 0
  const deps: SessionRunDeps & { readonly store: RunStore } = {
    auth: {
      async verify(token) {
        if (token === 'app') return { id: 'app', tenant: 'default' }
        if (token === 'other') return { id: 'other', tenant: 'other' }
        if (token === 's1') return { id: 's1', tenant: 'default', sessionId: 's1' }
        if (token === 'broken') throw new Error('no keys')
        return { refused: 'invalid_token' }
      },
    },
    store: memoryStore({ clock }),
    clock,
    ids: { next: (prefix) => `${prefix}_${++ids}` },
    logger: { log: (_, event, fields) => void lines.push({ event, fields }) },
    ...more,
  }
  return {
    deps,
    clock,
    lines,
    post: (run, { sessionId = 's1', token = 'app', prefer } = {}) =>
      handleSessionRun(
        { headers: { authorization: `Bearer ${token}`, ...(prefer && { prefer }) }, body: { sessionId, run } },
        deps,
      ),
  }
}

export interface PostOptions {
  readonly sessionId?: string
  readonly token?: string
  readonly prefer?: string
}

export function answerOf(result: HandlerResult<RunAnswer>): RunAnswer {
  if (!result.ok) throw new Error(JSON.stringify(result.body))
  return result.body
}

export function runOf(result: HandlerResult<RunAnswer>): AnsweredRun {
  const { run } = answerOf(result)
  if (!run) throw new Error('no run in the answer')
  return run
}

export function problemOf(result: HandlerResult<RunAnswer>): Problem {
  if (result.ok) throw new Error(`answered ${result.status}`)
  return result.body
}

/** The faults of a refused body, as `pointer code`. */
export function faultsOf(result: HandlerResult<RunAnswer>): string[] {
  return (problemOf(result).errors ?? []).map(({ pointer, code }: Issue) => `${pointer} ${code}`)
}
