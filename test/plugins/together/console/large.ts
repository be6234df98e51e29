import { toFetch } from '../../../../src/adapters/fetch.ts'
import { recordingChannel } from '../../../../src/contract-tests/recording-channel.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../../../src/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { APP, recordingLogger, testAuth } from '../../../support/deps.ts'
import { everyPlugin } from '../../../support/every-plugin.ts'

export const LONG: string = 'x'.repeat(200)

/** Events of the catalogue. */
const EVENTS = 10_000

const MAIL = `<p id="shipped">On its way</p>${'<p>Thank you.</p>'.repeat(15_000)}`.slice(0, 262_000)

/** A host with very much on every screen. */
export async function largeSallyport(): Promise<Sallyport> {
  const names = Array.from({ length: EVENTS }, (_, at) => `bulk.${'event.'.repeat(30)}${at}`)
  const bulk = Object.fromEntries(names.map((name) => [name, { channels: { email: { html: () => '' } } }]))
  const failing = recordingChannel([{ outcome: 'retry', code: 'smtp_421' }], { retrySchedule: Array(300).fill(0) })
  const sallyport: Sallyport = createSallyport<Record<string, unknown>>({
    auth: testAuth,
    store: memoryStore(),
    events: defineEvents({ ...bulk, 'order.shipped': { channels: { email: { html: () => MAIL } } } }),
    channels: { email: failing },
    plugins: everyPlugin({
      alerts: {
        budgets: [
          {
            name: 'session',
            per: 'session',
            soft: { tokens: 1 },
            hard: { cost: { amount: '9'.repeat(15), currency: 'EUR' } },
          },
        ],
      },
    }),
    logger: recordingLogger(),
  })
  await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'tried@example.com', sessionId: LONG })
  for (let turn = 0; turn < 120; turn++) await sallyport.worker.runDue()
  for (let at = 0; at < 60; at++)
    await sallyport.dispatch({ eventType: 'order.shipped', recipient: `${LONG}${at}`, sessionId: LONG })
  await recordRuns(sallyport)
  return sallyport
}

async function recordRuns(sallyport: Sallyport): Promise<void> {
  for (let at = 0; at < 110; at++) {
    const run = {
      runId: `${LONG.slice(0, 190)}${at}`,
      ...(at > 0 && { parentRunId: `${LONG.slice(0, 190)}${at - 1}` }),
      ...{ status: 'failed', provider: 'openai', model: LONG.slice(0, 100), agent: { name: LONG.slice(0, 100) } },
      error: { type: 'x', message: LONG.repeat(5) },
      counts: { inputTokens: 9_007_199_254_740_991, outputTokens: 1, toolCalls: 123_456_789_012 },
      metadata: Object.fromEntries(Array.from({ length: 32 }, (_, key) => [`key${key}`, LONG])),
      tags: [LONG.slice(0, 60)],
    }
    const answer = await toFetch(sallyport)(
      new Request('http://127.0.0.1/api/agents/session/run', {
        method: 'POST',
        headers: { ...APP, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: LONG, run }),
      }),
    )
    if (!answer.ok) throw new Error(await answer.text())
  }
}
