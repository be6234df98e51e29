import { createApprovalClient } from '../../src/client/approvals.ts'
import type { ClientOptions } from '../../src/client/caller.ts'
import { createReadClient } from '../../src/client/read.ts'

/** Methods of clients, such as `runs.get`, by the place that each calls: `GET /api/agents/sessions/{}/runs/{}`. */
export async function clientCalls(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  let calling = ''
  const options: ClientOptions = {
    baseUrl: 'http://shop.test',
    token: 'secret',
    retries: 0,
    async fetch(url, { method }) {
      const place = `${method} ${decodeURIComponent(new URL(url).pathname)}`
      const known = found.get(placeOf(place))
      if (known) throw new Error(`${known} and ${calling} call ${place}`)
      found.set(placeOf(place), calling)
      return Response.json({})
    },
  }
  const { approvals, ...others } = createReadClient(options)
  const clients = { ...others, approvals: { ...approvals, ...createApprovalClient(options) } }
  for (const [name, method] of methodsIn(clients)) {
    calling = name
    // Ids in an object, or as the first argument.
    await method({
      sessionId: '{sessionId}',
      runId: '{runId}',
      approvalId: '{approvalId}',
      toString: () => '{id}',
    }).catch(() => {})
  }
  return found
}

/** Method and path of an action, whatever the names of its parameters. */
export function placeOf(place: string): string {
  return place.replace(/\{\w+\}/g, '{}')
}

type Method = (of: object) => Promise<unknown>

function methodsIn(of: object, path = ''): readonly (readonly [name: string, method: Method])[] {
  return Object.entries(of).flatMap(([name, member]) =>
    typeof member === 'function' ? [[path + name, member as Method] as const] : methodsIn(member, `${path}${name}.`),
  )
}
