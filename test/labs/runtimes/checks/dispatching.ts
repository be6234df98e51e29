import { deepEqual, equal, match } from 'node:assert/strict'
import type { DispatchAnswer, DispatchView } from 'sallyport'
import { until } from '../../chaos/until.ts'
import type { Sent } from '../hosts/shop.ts'
import { DISPATCH, dispatch, own, post, type Target } from '../target.ts'
import type { CheckGroup } from './check.ts'

/** From an event to its message. */
export const dispatching: CheckGroup = {
  name: 'dispatch',
  checks: [
    {
      name: 'an event is answered 202 and delivered by the worker',
      async run(target) {
        const { status, json } = await dispatch(target, 'delivered')
        const { dispatchId, deliveries, ...rest }: DispatchAnswer = json
        match(dispatchId, /^dsp_/)
        deepEqual([status, rest.status, rest.duplicate, rest.warnings], [202, 'queued', false, []])
        deepEqual(
          deliveries.map((one) => [one.channel, one.status]),
          [['paper', 'queued']],
        )
        await delivered(target, dispatchId)
        deepEqual(await sentTo(target, 'delivered'), ['Order A-1 shipped'])
      },
    },
    {
      name: 'a delivery is skipped if its condition is false, with the reason',
      async run(target) {
        const eventData = { orderId: 'A-2', total: 0 }
        const { status, json } = await post(target, DISPATCH, {
          ...{ eventType: 'order.shipped', recipient: 'skipped', eventData },
        })
        deepEqual([status, json.status, json.deliveries[0].reason], [202, 'skipped', 'condition_false'])
        equal(json.deliveries[0].trace[0].path, 'data.total')
      },
    },
    {
      name: 'a dry run plans an event and stores nothing',
      async run(target) {
        const body = { eventType: 'order.shipped', recipient: 'dry', eventData: { orderId: 'A-3', total: 1 } }
        const { status, json } = await post(target, `${DISPATCH}?dryRun=true`, body)
        deepEqual([status, json.deliveries[0].content.text], [200, 'Order A-3 shipped'])
      },
    },
    {
      name: 'a repeated idempotency key replays the answer',
      async run(target) {
        const headers = { 'idempotency-key': 'k-1' }
        const first = await dispatch(target, 'repeated', { headers })
        const again = await dispatch(target, 'repeated', { headers })
        deepEqual([first.status, again.status, again.headers['idempotent-replayed']], [202, 202, 'true'])
        deepEqual([again.json.dispatchId, again.json.duplicate], [first.json.dispatchId, true])
        const other = await dispatch(target, 'somebody else', { headers })
        deepEqual([other.status, other.json.code], [422, 'idempotency_key_reused'])
        await delivered(target, first.json.dispatchId)
        equal((await sentTo(target, 'repeated')).length, 1)
      },
    },
    {
      name: 'runDue() delivers an event of the host, as in a cron job',
      async run(target) {
        const { status, due } = await own<{ status: number; due: { sent: number } }>(target, 'cron')
        equal(status, 202)
        equal(due.sent, 1)
      },
    },
  ],
}

/** Waits for the delivery if the runtime delivers by itself; otherwise runs the worker. */
export async function delivered(target: Target, dispatchId: string): Promise<void> {
  const status = async () => (await own<DispatchView>(target, `dispatch?id=${dispatchId}`)).status
  if (target.waitsUntil) return until('the delivery', async () => (await status()) === 'sent', 10_000)
  equal(await status(), 'queued')
  await own(target, 'run-due')
  equal(await status(), 'sent')
}

/** The messages to a recipient. */
export async function sentTo(target: Target, recipient: string): Promise<readonly unknown[]> {
  const sent = await own<readonly Sent[]>(target, 'sent')
  return sent.filter(({ to }) => to === recipient).map(({ text }) => text)
}
