import type { TestApp } from './test-app.ts'
import { throughTime } from './through-time.ts'

/** The body of a post about a run. */
export interface RunBody {
  readonly sessionId: string
  readonly run: { readonly userId: string; readonly error: { readonly message: string } } & Readonly<
    Record<string, unknown>
  >
}

/** A run with a canary in every member that a client can write. */
export function runOf({ canaries }: TestApp, runId: string, sessionId: string): RunBody {
  const content = (): string => canaries.word('run: content')
  const type = canaries.word('run: error type')
  const run = {
    ...{
      runId,
      status: 'failed',
      userId: content(),
      tags: [content()],
      metadata: { [canaries.word('keys of sent data')]: `${content()} <"&é>` },
    },
    ...{ error: { type, message: content(), code: content() }, waitingFor: 'input' },
    ...{ counts: { inputTokens: 5, [content()]: 1 }, model: 'm', agent: { name: 'support' } },
    timings: { startedAt: '2026-11-21T07:59:00Z', endedAt: '2026-11-21T07:59:30Z' },
  }
  return { sessionId, run: { ...run, [canaries.word('keys of sent data')]: content() } }
}

/** Lets the worker do what is due, for three minutes. */
export async function settle(app: TestApp): Promise<void> {
  const { sallyport, collected, clock } = app
  for (let round = 0; round < 3; round++) {
    collected.keep('call', await throughTime(app, sallyport.worker.runDue()))
    clock.advance(60_000)
  }
}
