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
import { APP, recordingLogger, SESSION, testAuth } from '../support/deps.ts'
import { everyPlugin, keepInEvery } from '../support/every-plugin.ts'

/** Markup that would run if it were shown as HTML. It is in every field that a caller controls. */
export const MARKUP = '<img src=x onerror="top.ran=1"><script>top.ran=1</script>'

/** Id of a session: visible characters without a space. */
export const MARKUP_SESSION = '<img/src=x/onerror="top.ran=1"><script>top.ran=1</script>'

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
        email: { subject: async ({ data }) => `Order ${String(Object(data).number)}`, html: () => MAIL },
        sms: { when: { '==': [{ var: 'data.urgent' }, true] }, text: () => 'On its way' },
      },
    },
    'order.lost': { channels: { sms: { text: () => 'Lost' } } },
  },
  { conditions: jsonLogic() },
)

/** With a source, the reports of a delivery are shown. */
const REFUSING = { tenant: 'default', channel: 'email', receive: async () => ({ outcome: 'refused' }) }

/**
 * A host with something on every screen: dispatches that were sent, skipped, failed and are due, feedback of a provider, runs, suppressions,
 * tokens in use.
 */
export async function filledSallyport(
  store: SallyportStore,
  options: Partial<SallyportOptions<Record<string, unknown>>> = {},
): Promise<Sallyport> {
  const refused = recordingChannel([{ outcome: 'rejected', code: 'number_unknown' }], { address: ({ id }) => id })
  const sallyport = createSallyport<Record<string, unknown>>({
    ...{ auth: testAuth, store, events, channels: { email: recordingChannel(), sms: refused } },
    plugins: everyPlugin({
      consent: { feedback: { own: REFUSING } },
      alerts: { budgets: [{ name: 'session', per: 'session', hard: { tokens: 1_000 } }] },
    }),
    logger: recordingLogger(),
    ...options,
  })
  const shipped = { eventType: 'order.shipped', recipient: 'jane@example.com' } as const
  await sallyport.dispatch({ ...shipped, eventData: { number: 7 } })
  await sallyport.dispatch({ ...shipped, sessionId: 's1', eventData: { number: MARKUP, urgent: true, [MARKUP]: 1 } })
  await sallyport.dispatch({ ...shipped, recipient: `user ${MARKUP}`, eventData: { number: MARKUP } })
  await sallyport.dispatch({ eventType: 'order.lost', recipient: 'joe@example.com' })
  await sallyport.worker.runDue()
  await sallyport.dispatch({ ...shipped, recipient: 'due@example.com', eventData: { number: 8 } })
  await recordRuns(sallyport)
  const { items } = await sallyport.dispatches.list({ sessionId: 's1' })
  const { deliveryId = '' } = items[0]?.deliveries.find(({ channel }) => channel === 'email') ?? {}
  const whose = { tenant: 'default', recipient: 'bad@example.com', deliveryId }
  await keepInEvery({ sallyport, store, ...whose, text: MARKUP })
  return sallyport
}

async function recordRuns(sallyport: Sallyport): Promise<void> {
  const usage = { provider: 'openai', model: MARKUP, counts: { inputTokens: 700, outputTokens: 400 } }
  const times = { startedAt: '2026-11-24T07:00:00Z', endedAt: '2026-11-24T07:00:09Z' }
  const metadata = { note: MARKUP, [MARKUP]: 'note' }
  const failed = { status: 'failed', error: { type: 'x', message: MARKUP }, timings: times, metadata }
  const runs = [
    { runId: 'parent', status: 'completed', timings: times, ...usage, agent: { name: MARKUP }, tags: [MARKUP] },
    { runId: 'child', parentRunId: 'parent', ...failed },
    { runId: 'open', parentRunId: 'parent', status: 'running', metadata },
  ]
  for (const run of runs) await postRun(sallyport, SESSION, { sessionId: 's1', run })
  await postRun(sallyport, APP, { sessionId: MARKUP_SESSION, run: { runId: 'hostile', ...failed } })
}

async function postRun(sallyport: Sallyport, token: Readonly<Record<string, string>>, body: object): Promise<void> {
  const headers = { ...token, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await toFetch(sallyport)(new Request('http://127.0.0.1/api/agents/session/run', init))
  if (!answer.ok) throw new Error(await answer.text())
}
