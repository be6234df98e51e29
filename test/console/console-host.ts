import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import { type ConsoleOptions, createConsole, type Mountable } from '../../src/console/index.ts'
import { type RunningConsole, serve } from './console-server.ts'

export const FRAMEWORKS = ['express', 'koa', 'hono', 'node'] as const
export type Framework = (typeof FRAMEWORKS)[number]

export const PREFIXES = ['/ops', '/internal/tools/sallyport', '/a.b~c'] as const

type Mounting = (sallyport: Mountable, prefix: string, options: ConsoleOptions) => RequestListener

const MOUNTINGS: Readonly<Record<Framework, Mounting>> = {
  express(sallyport, prefix, options) {
    const app = express()
    app.use(express.json())
    app.use(prefix, toExpress(createConsole(sallyport, options)))
    return app
  },
  koa(sallyport, prefix, options) {
    const app = new Koa()
    app.use(toKoa(createConsole(sallyport, options), { basePath: prefix }))
    return app.callback()
  },
  hono(sallyport, prefix, options) {
    const app = new Hono()
    const handle = toFetch(createConsole(sallyport, options), { basePath: prefix })
    app.all(`${prefix}/*`, (c) => handle(c.req.raw, c))
    return getRequestListener(app.fetch)
  },
  node: (sallyport, prefix, options) => toNode(createConsole(sallyport, options), { basePath: prefix }),
}

interface HostOptions extends ConsoleOptions {
  /** The host allows every origin to read with credentials. */
  readonly cors?: boolean
}

/** Serves a console on the loopback. */
export function serveConsole(
  framework: Framework,
  sallyport: Mountable,
  prefix: string,
  { cors = false, ...options }: HostOptions,
): Promise<RunningConsole> {
  const handle = MOUNTINGS[framework](sallyport, prefix, options)
  const answer: RequestListener = (request, response) => {
    if (cors) allowOrigin(request, response)
    if (cors && request.method === 'OPTIONS') response.writeHead(204).end()
    else handle(request, response)
  }
  return serve(answer, prefix)
}

function allowOrigin({ headers }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', headers.origin ?? '*')
  response.setHeader('access-control-allow-credentials', 'true')
  response.setHeader('access-control-allow-headers', 'x-sallyport-console')
}
