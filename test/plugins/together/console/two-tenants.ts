import { toFetch } from '../../../../src/adapters/fetch.ts'
import type { ConsoleLevel, ConsoleOptions } from '../../../../src/console/index.ts'
import { recordingChannel } from '../../../../src/contract-tests/recording-channel.ts'
import {
  createSallyport,
  defineEvents,
  type EventCatalog,
  type Sallyport,
  type SallyportStore,
} from '../../../../src/index.ts'
import type { ConsentApi } from '../../../../src/plugins/index.ts'
import { recordingLogger } from '../../../support/deps.ts'
import { everyPlugin } from '../../../support/every-plugin.ts'

/** Each is a part of every id and value of its tenant, and of no other's. */
export const TENANTS = ['acme', 'globex'] as const
export type Tenant = (typeof TENANTS)[number]

/** Dispatches of one tenant that a user can change. */
export interface Changeable {
  readonly due: string
  readonly failed: string
}

const events: EventCatalog<Record<string, unknown>> = defineEvents({
  'order.shipped': {
    channels: { email: { subject: ({ data }) => String(Object(data).of), text: () => 'On its way' } },
  },
  'order.lost': { channels: { sms: { text: () => 'Lost' } } },
})

/** A host with something of each tenant on every screen. A token is `<tenant>` for an application, `<tenant>/<session>` for an agent. */
export async function tenantsSallyport(store: SallyportStore): Promise<Sallyport & ConsentApi> {
  const refused = recordingChannel([{ outcome: 'rejected', code: 'number_unknown' }], { address: ({ id }) => id })
  const sallyport = createSallyport<Record<string, unknown>>({
    auth: {
      verify(token) {
        const [tenant = '', sessionId] = token.split('/')
        return { id: `${tenant}-token`, tenant, ...(sessionId !== undefined && { sessionId }) }
      },
    },
    ...{ store, events, channels: { email: recordingChannel(), sms: refused }, logger: recordingLogger() },
    plugins: everyPlugin({ alerts: { budgets: [{ name: 'session', per: 'session', hard: { tokens: 1_000 } }] } }),
  }) as Sallyport & ConsentApi
  for (const tenant of TENANTS) {
    await addDispatches(sallyport, tenant)
    await sallyport.suppressions.add({ tenant, channel: 'email', address: `bad@${tenant}.example`, category: tenant })
    await postRun(sallyport, `${tenant}/${tenant}-session`, tenant)
  }
  await sallyport.worker.runDue()
  return sallyport
}

/** Adds a sent, a failed and a due dispatch of a tenant. */
export async function addDispatches(sallyport: Sallyport, tenant: Tenant): Promise<Changeable> {
  const of = { recipient: `jane@${tenant}.example`, sessionId: `${tenant}-session` }
  const dispatched = async (event: { readonly eventType: string; readonly eventData?: { readonly of: string } }) => {
    const { ok, body } = await sallyport.dispatch({ ...of, ...event }, { tenant })
    if (!ok) throw new Error(body.detail)
    return body.dispatchId
  }
  await dispatched({ eventType: 'order.shipped', eventData: { of: tenant } })
  const failed = await dispatched({ eventType: 'order.lost' })
  await sallyport.worker.runDue()
  return { failed, due: await dispatched({ eventType: 'order.shipped', eventData: { of: tenant } }) }
}

async function postRun(sallyport: Sallyport, token: string, tenant: Tenant): Promise<void> {
  const run = { runId: `${tenant}-run`, status: 'failed', agent: { name: tenant }, tags: [tenant], model: tenant }
  const answer = await toFetch(sallyport)(
    new Request('http://127.0.0.1/api/agents/session/run', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: `${tenant}-session`, run: { ...run, error: { type: tenant } } }),
    }),
  )
  if (!answer.ok) throw new Error(await answer.text())
}

/** Cookie of a user, for {@link accessByCookie}. */
export function cookieFor(access: ConsoleLevel, tenant: Tenant): { readonly name: string; readonly value: string } {
  return { name: 'staff', value: `${access}.${tenant}` }
}

/** Reads the cookie from what any of the frameworks gives. */
export const accessByCookie: ConsoleOptions['access'] = (given) => {
  const { headers } = Object(given)
  const cookie = String((typeof headers.get === 'function' ? headers.get('cookie') : headers.cookie) ?? '')
  const [, access, tenant] = /staff=(read|operate)\.(\w+)/.exec(cookie) ?? []
  return access === 'read' || access === 'operate' ? { access, tenant, user: `${access} of ${tenant}` } : 'none'
}
