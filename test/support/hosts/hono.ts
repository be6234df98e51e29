import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { type Mountable, toFetch } from '../../../src/adapters/fetch.ts'
import { NO_NEXT } from './fetch.ts'
import { HOST_ANSWER, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

export const honoHost: Host = {
  name: 'Hono',
  mounts: 'strips',
  errors: { sallyport: NO_NEXT },
  parser: 'first',
  own: { 'hands over no prefix of a mount': 'it makes a Request whose URL lacks the prefix' },
  start,
}

function start(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { mountPath, parser, ...mount } = options
  const handler = toFetch(sallyport, mount)
  const app = new Hono()
  if (parser) {
    app.use(async (c, next) => {
      if (c.req.raw.body) await c.req.raw.clone().text()
      await next()
    })
  }
  if (mountPath) app.mount(mountPath, handler)
  else app.all(`${mount.basePath ?? ''}/api/*`, (c) => handler(c.req.raw))
  app.post('/own/json', async (c) => c.json({ own: await c.req.json() }))
  app.all('*', (c) => c.text(HOST_ANSWER))
  return listen(createAdaptorServer({ fetch: app.fetch }) as Server)
}
