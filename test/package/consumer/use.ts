// Example host, compiled against the installed package and run.
import { type Channel, createSallyport, type DispatchView, defineEvents, type RunPost } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { type FetchOptions, toFetch } from 'sallyport/fetch'
import { jsonLogic } from 'sallyport/json-logic'
import { liquid } from 'sallyport/liquid'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'

const sent: string[] = []
const paper: Channel = {
  address: (recipient) => recipient.id,
  async send({ content }) {
    sent.push(String(content.text))
    return { outcome: 'sent' }
  },
}
const data = v.object({ orderId: v.string(), total: v.number() })
const channels = { paper: { when: { '>': [{ var: 'data.total' }, 0] }, text: 'Order {{ data.orderId }} shipped' } }
const engines = { templates: liquid(), conditions: jsonLogic() }
const events = defineEvents({ 'order.shipped': { data, channels } }, engines)
const { secret } = await generateAppSecret({ env: 'test' })
const sallyport = createSallyport({ auth: appSecrets([secret]), events, store: memoryStore(), channels: { paper } })

const options: FetchOptions = { basePath: '/v1' }
const answer = toFetch(sallyport, options)
const post = (path: string, body: object): Promise<Response> => {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  return answer(new Request(`http://localhost/v1/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
}
const eventData = { orderId: 'A-1', total: 20 }
const accepted = await post('outbound/dispatch', { eventType: 'order.shipped', recipient: 'user_42', eventData })
const { dispatchId } = (await accepted.json()) as DispatchView
const run: RunPost = { runId: 'r1', status: 'completed' }
const recorded = await post('agents/session/run', { sessionId: 's1', run })
await sallyport.worker.runDue()
const dispatch = await sallyport.dispatches.get(dispatchId)
console.log(JSON.stringify({ statuses: [accepted.status, recorded.status], dispatch: dispatch?.status, sent }))
