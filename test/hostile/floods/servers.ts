import { createServer, type RequestListener, type Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { toExpress } from '../../../src/adapters/express.ts'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { toKoa } from '../../../src/adapters/koa.ts'
import { toNode } from '../../../src/adapters/node.ts'
import type { Sallyport } from '../../../src/index.ts'

/** One server per adapter. */
export const SERVERS: Readonly<Record<string, (sallyport: Sallyport) => Server>> = {
  'node:http': (sallyport) => createServer(toNode(sallyport)),
  Express: (sallyport) => createServer(express().use(toExpress(sallyport)) as RequestListener),
  Koa: (sallyport) => createServer(new Koa().use(toKoa(sallyport)).callback()),
  Hono: (sallyport) => {
    const handler = toFetch(sallyport)
    return createAdaptorServer({ fetch: new Hono().all('*', (c) => handler(c.req.raw)).fetch }) as Server
  },
}
