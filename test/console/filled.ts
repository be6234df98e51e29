import { toFetch } from '../../src/adapters/fetch.ts'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import {
  createSallyport,
  defineEvents,
  type EventCatalog,
  type Sallyport,
  type SallyportOptions,
  type SallyportStore,
} from '../../src/index.ts'
import { recordingLogger, SESSION, testAuth } from '../support/deps.ts'

/** Markup that would run if it were shown as HTML. It is in every field that a caller controls. */
const MARKUP = '<img src=x onerror="top.ran=1"><script>top.ran=1</script>'

const FRAME = '<iframe srcdoc="<script>top.ran=1</script>"></iframe>'
const MAIL = `<style>p { color: green }</style><p id="shipped">On its way</p>${MARKUP}${FRAME}<a href="javascript:top.ran=1">x</a>`

const events: EventCatalog<Record<string, unknown>> = defineEvents(
  {
    'order.shipped': {
      channels: {
        email: { subject: ({ data }) => `Order ${String(Object(data).number)}`, html: () => MAIL },
        sms: { when: { '==': [{ var: 'data.urgent' }, true] }, text: () => 'On its way' },
      },
    },
    'order.lost': { channels: { sms: { text: () => 'Lost' } } },
  },
  { conditions: jsonLogic() },
)

/** A host with something on every screen: dispatches that were sent, skipped, failed and are due, runs, suppressions, tokens in use. */
export async function filledSallyport(
  store: SallyportStore,
  options: Partial<SallyportOptions<Record<string, unknown>>> = {},
): Promise<Sallyport> {
  const refused = recordingChannel([{ outcome: 'rejected', code: 'number_unknown' }], { address: ({ id }) => id })
  const sallyport: Sallyport = createSallyport<Record<string, unknown>>({
    ...{ auth: testAuth, store, events, channels: { email: recordingChannel(), sms: refused } },
    suppressions: { keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
    budgets: [{ name: 'session', per: 'session', hard: { tokens: 1_000 } }],
    logger: recordingLogger(),
    ...options,
  })
  const shipped = { eventType: 'order.shipped', recipient: 'jane@example.com' } as const
  await sallyport.dispatch({ ...shipped, eventData: { number: 7 } })
  await sallyport.dispatch({ ...shipped, sessionId: 's1', eventData: { number: MARKUP, urgent: true } })
  await sallyport.dispatch({ ...shipped, recipient: `user ${MARKUP}`, eventData: { number: MARKUP } })
  await sallyport.dispatch({ eventType: 'order.lost', recipient: 'joe@example.com' })
  await sallyport.worker.runDue()
  await sallyport.dispatch({ ...shipped, recipient: 'due@example.com', eventData: { number: 8 } })
  await sallyport.suppressions.add({ channel: 'email', address: 'bad@example.com' })
  await recordRuns(sallyport)
  return sallyport
}

async function recordRuns(sallyport: Sallyport): Promise<void> {
  const fetchLike = toFetch(sallyport)
  const usage = { provider: 'openai', model: MARKUP, counts: { inputTokens: 700, outputTokens: 400 } }
  const times = { startedAt: '2026-11-24T07:00:00Z', endedAt: '2026-11-24T07:00:09Z' }
  const runs = [
    { runId: 'parent', status: 'completed', timings: times, ...usage, agent: { name: MARKUP }, tags: [MARKUP] },
    { runId: 'child', parentRunId: 'parent', status: 'failed', error: { type: 'x', message: MARKUP }, timings: times },
    { runId: 'open', parentRunId: 'parent', status: 'running', metadata: { note: MARKUP } },
  ]
  for (const run of runs) {
    const answer = await fetchLike(
      new Request('http://127.0.0.1/api/agents/session/run', {
        method: 'POST',
        headers: { ...SESSION, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 's1', run }),
      }),
    )
    if (!answer.ok) throw new Error(await answer.text())
  }
}
