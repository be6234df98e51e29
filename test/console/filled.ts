import { Webhook } from 'svix'
import { toFetch } from '../../src/adapters/fetch.ts'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import { resend } from '../../src/feedback/resend.ts'
import {
  createSallyport,
  defineEvents,
  type EventCatalog,
  type Sallyport,
  type SallyportOptions,
  type SallyportStore,
} from '../../src/index.ts'
import type { ConsentApi } from '../../src/plugins/index.ts'
import { APP, recordingLogger, SESSION, testAuth } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'

/** Markup that would run if it were shown as HTML. It is in every field that a caller controls. */
export const MARKUP = '<img src=x onerror="top.ran=1"><script>top.ran=1</script>'

/** Id of a session: visible characters without a space. */
export const MARKUP_SESSION = '<img/src=x/onerror="top.ran=1"><script>top.ran=1</script>'

const RESEND_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

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

/**
 * A host with something on every screen: dispatches that were sent, skipped, failed and are due, feedback of a provider, runs, suppressions,
 * tokens in use.
 */
export async function filledSallyport(
  store: SallyportStore,
  options: Partial<SallyportOptions<Record<string, unknown>>> = {},
): Promise<Sallyport & ConsentApi> {
  const refused = recordingChannel([{ outcome: 'rejected', code: 'number_unknown' }], { address: ({ id }) => id })
  const sallyport = createSallyport<Record<string, unknown>>({
    ...{ auth: testAuth, store, events, channels: { email: recordingChannel(), sms: refused } },
    plugins: everyPlugin({
      consent: { feedback: { resend: resend({ channel: 'email', secret: RESEND_SECRET }) } },
      alerts: { budgets: [{ name: 'session', per: 'session', hard: { tokens: 1_000 } }] },
    }),
    logger: recordingLogger(),
    ...options,
  }) as Sallyport & ConsentApi
  const shipped = { eventType: 'order.shipped', recipient: 'jane@example.com' } as const
  await sallyport.dispatch({ ...shipped, eventData: { number: 7 } })
  await sallyport.dispatch({ ...shipped, sessionId: 's1', eventData: { number: MARKUP, urgent: true, [MARKUP]: 1 } })
  await sallyport.dispatch({ ...shipped, recipient: `user ${MARKUP}`, eventData: { number: MARKUP } })
  await sallyport.dispatch({ eventType: 'order.lost', recipient: 'joe@example.com' })
  await sallyport.worker.runDue()
  await sallyport.dispatch({ ...shipped, recipient: 'due@example.com', eventData: { number: 8 } })
  await sallyport.suppressions.add({ channel: 'email', address: 'bad@example.com' })
  await recordRuns(sallyport)
  await reportFeedback(sallyport, store, options.clock?.now() ?? Date.now())
  return sallyport
}

/** Reports on the mail of the session: signed as Resend does, and one in the store with a code that no source gives. */
async function reportFeedback(sallyport: Sallyport, store: SallyportStore, now: number): Promise<void> {
  const { items } = await sallyport.dispatches.list({ sessionId: 's1' })
  const { deliveryId } = items[0]?.deliveries.find(({ channel }) => channel === 'email') ?? {}
  const tags = [{ name: 'sallyport_delivery_id', value: deliveryId }]
  const bounce = { type: 'Permanent', subType: 'Mailbox full', message: MARKUP }
  for (const type of ['email.delivered', 'email.bounced', MARKUP]) {
    const body = JSON.stringify({ type, data: { tags, to: ['gone@example.com'], bounce } })
    const headers = {
      'svix-id': `msg_${type.length}`,
      'svix-timestamp': `${Math.floor(now / 1_000)}`,
      'svix-signature': new Webhook(RESEND_SECRET).sign(`msg_${type.length}`, new Date(now), body),
    }
    await post(sallyport, 'outbound/feedback/resend', headers, body)
  }
  const owner = { tenant: 'default', channel: 'email', owner: `delivery:${deliveryId}` }
  const report = { ...owner, feedbackId: 'f'.repeat(64), kind: 'unknown', at: now, code: MARKUP } as const
  await store.recordFeedback({ feedback: [report] })
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

function postRun(sallyport: Sallyport, token: Readonly<Record<string, string>>, body: object): Promise<void> {
  return post(sallyport, 'agents/session/run', { ...token, 'content-type': 'application/json' }, JSON.stringify(body))
}

async function post(
  sallyport: Sallyport,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<void> {
  const request = new Request(`http://127.0.0.1/api/${path}`, { method: 'POST', headers, body })
  const answer = await toFetch(sallyport)(request)
  if (!answer.ok) throw new Error(await answer.text())
}
