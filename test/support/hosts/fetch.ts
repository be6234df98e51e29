import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { type Mountable, toFetch } from '../../../src/adapters/fetch.ts'
import { HOST_ANSWER, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

/** Explains why no error reaches a host under fetch. */
export const NO_NEXT = 'a fetch handler has no next handler for an error, and never rejects'

export const fetchHost: Host = {
  name: 'fetch',
  mounts: { whole: 'a bare fetch handler has no mounts' },
  errors: { sallyport: NO_NEXT },
  parser: 'first',
  start,
}

function start(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { parser, mountPath: _, ...mount } = options
  const handler = toFetch(sallyport, { ...mount, notFound: () => new Response(HOST_ANSWER) })
  const fetch = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === '/own/json') return Response.json({ own: await request.json() })
    if (parser && request.body) await request.clone().text()
    return handler(request)
  }
  return listen(createAdaptorServer({ fetch }) as Server)
}
