import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { AutoRouter } from 'itty-router'
import { type Mountable, toFetch } from '../../../src/adapters/fetch.ts'
import { NO_NEXT } from './fetch.ts'
import { HOST_ANSWER, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

export const ittyRouterHost: Host = {
  name: 'itty-router 6',
  mounts: { whole: 'its base and its nested routers leave the URL of a request as it is' },
  errors: { sallyport: NO_NEXT },
  parser: 'first',
  start,
}

function start(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { parser, mountPath: _, ...mount } = options
  const router = AutoRouter()
  if (parser) router.all('*', async (request: Request) => void (request.body && (await request.clone().text())))
  router.all(`${mount.basePath ?? ''}/api/*`, toFetch(sallyport, mount))
  router.post('/own/json', async (request: Request) => ({ own: await request.json() }))
  router.all('*', () => new Response(HOST_ANSWER))
  return listen(createAdaptorServer({ fetch: router.fetch }) as Server)
}
