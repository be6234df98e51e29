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

const REMOTE = 'https://sender.invalid'

/** A mail with everything that a browser would run, load, follow or complain of. */
export const MAIL: string = `<base href="${REMOTE}/"><meta http-equiv="refresh" content="0;url=${REMOTE}/">
<link rel="stylesheet" href="${REMOTE}/a.css"><link rel="prefetch" href="${REMOTE}/b">
<style><!-- @import "${REMOTE}/c.css"; @font-face { font-family: f; src: url(${REMOTE}/d.woff) }
p { color: green; background: url(${REMOTE}/e.png) } @media all { p { list-style: u\\72l(${REMOTE}/f.png) } }
p { --x: u\\72l(${REMOTE}/g.png); border-image: var(--x); cursor: image-set("${REMOTE}/h.png" 1x) } --></style>
<p id="shipped" onclick="top.ran=1" style="font-weight: bold; background: url(${REMOTE}/i.png)">On its way</p>
<img src="${REMOTE}/j.png" srcset="${REMOTE}/k.png 1x" alt="Our logo"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="dot">
<svg onload="top.ran=1"><use href="${REMOTE}/l.svg#a" /><image href="${REMOTE}/m.png" /><animate onbegin="top.ran=1" /></svg>
<video src="${REMOTE}/n.mp4" poster="${REMOTE}/o.png" autoplay></video><audio src="${REMOTE}/p.mp3" autoplay></audio>
<object data="${REMOTE}/q"></object><embed src="${REMOTE}/r"><input type="image" src="${REMOTE}/s.png">
<form action="${REMOTE}/t"><button formaction="${REMOTE}/u">Send</button></form><table background="${REMOTE}/v.png"></table>
<iframe srcdoc="<script>top.ran=1</script>"></iframe><iframe src="${REMOTE}/w"></iframe>
<a href="javascript:top.ran=1">x</a><a href="${REMOTE}/y" target="_top" ping="${REMOTE}/z">Track your order</a>${MARKUP}`

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
