import type { createServer } from 'node:http'
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

export type Framework = 'express' | 'koa' | 'hono' | 'node'

type Mounting = (sallyport: Mountable, prefix: string, options: ConsoleOptions) => Parameters<typeof createServer>[1]

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
    app.mount(prefix, toFetch(createConsole(sallyport, { ...options, path: prefix })))
    return getRequestListener(app.fetch)
  },
  node: (sallyport, prefix, options) => toNode(createConsole(sallyport, options), { basePath: prefix }),
}

/** Serves a console on the loopback. */
export function serveConsole(
  framework: Framework,
  sallyport: Mountable,
  prefix: string,
  options: ConsoleOptions,
): Promise<RunningConsole> {
  return serve(MOUNTINGS[framework](sallyport, prefix, options), prefix)
}
