import { type IssueSessionTokenOptions, issueSessionToken } from 'sallyport/auth'
import { toFetch } from 'sallyport/fetch'
import { AUDIENCE, type Shop } from './shop.ts'
import { withoutHttp } from './without-http.ts'

/** A request to one of the shop's own paths; its result is the answer, as JSON. */
export type Task = (request: Request) => unknown

/** Additional tasks of a runtime, at `/own/…` paths. */
export type Tasks = Readonly<Record<string, Task>>

/** The host's own paths, for operations without an endpoint. */
export function backOffice(shop: Shop, more: Tasks = {}): (request: Request) => Promise<Response> {
  const tasks = { ...ordinary(shop), ...more }
  const elsewhere = toFetch(shop.sallyport)
  return async (request) => {
    const [, task] = /^\/own\/([a-z-]+)$/.exec(new URL(request.url).pathname) ?? []
    const act = task === undefined ? undefined : tasks[task]
    if (act === undefined) return elsewhere(request)
    try {
      return Response.json((await act(request)) ?? null)
    } catch (error) {
      return Response.json(String(error instanceof Error ? error.stack : error), { status: 500 })
    }
  }
}

function ordinary(shop: Shop): Tasks {
  const { sallyport, keys, sent, nextSent } = shop
  return {
    sent: () => sent,
    'run-due': () => sallyport.worker.runDue(),
    dispatch: (request) => sallyport.dispatches.get(new URL(request.url).searchParams.get('id') ?? ''),
    session: (request) => sallyport.sessions.get(new URL(request.url).searchParams.get('id') ?? ''),
    async token(request) {
      const { kid, ...rest } = (await request.json()) as Omit<IssueSessionTokenOptions, 'key' | 'audience'> & {
        kid: string
      }
      const key = keys.find((one) => one.kid === kid)
      return key && issueSessionToken({ ...rest, key, audience: AUDIENCE })
    },
    /** Simulates a cron job: accepts its own event and delivers what is due. */
    async cron() {
      const event = { eventType: 'order.shipped', recipient: 'cron', eventData: { orderId: 'C', total: 1 } } as const
      const { status } = await sallyport.dispatch(event)
      return { status, due: await sallyport.worker.runDue() }
    },
    /** Simulates a running server: its worker finds due deliveries by itself. */
    async worker() {
      sallyport.worker.start()
      const isSent = nextSent()
      const eventData = { orderId: 'W', total: 1 }
      const { status } = await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'worker', eventData })
      await isSent
      await sallyport.worker.stop()
      return { status }
    },
    'without-http': withoutHttp,
  }
}
