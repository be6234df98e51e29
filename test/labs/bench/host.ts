/** One host in its own process: `host.ts <name>` prints its port and serves until it is killed. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { createSallyport, handleDispatch, handleSessionRun, type Sallyport } from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { toExpress } from 'sallyport/express'
import { toFetch } from 'sallyport/fetch'
import { toKoa } from 'sallyport/koa'
import { toNode } from 'sallyport/node'
import { memoryStore } from 'sallyport/storage/memory'
import { workload } from './workload.ts'

async function sallyport(): Promise<Sallyport<unknown>> {
  const { withLiquid: events, channels } = await workload()
  return createSallyport({ auth: appSecrets([process.env.BENCH_SECRET]), events, store: memoryStore(), channels })
}

/** Sallyport's answers to the sent bodies, by path. The constant hosts send them, so both hosts send the same bytes. */
async function answers(): Promise<(path: string | undefined) => unknown> {
  const { headers, auth, withLiquid: events, channels, event, run } = await workload()
  const store = memoryStore()
  const { body: dispatched } = await handleDispatch({ headers, body: event }, { auth, events, store, channels })
  const { body: recorded } = await handleSessionRun({ headers, body: run('run-1') }, { auth, store })
  return (path) => (path?.includes('dispatch') ? dispatched : recorded)
}

function send(res: ServerResponse, answer: unknown): void {
  const text = JSON.stringify(answer)
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

/** Handles each body this many times, without an adapter, and sends the last answer. A GET is answered with the processor time. */
async function handledTimes(times: number): Promise<RequestListener> {
  const auth = appSecrets([process.env.BENCH_SECRET])
  const answerTo = await answers()
  const store = memoryStore()
  return async (req, res) => {
    if (req.method === 'GET') return send(res, process.cpuUsage())
    const text = JSON.stringify(await json(req))
    let answer = answerTo(req.url)
    for (let time = 0; time < times; time++) {
      const { ok, body } = await handleSessionRun({ headers: req.headers, body: JSON.parse(text) }, { auth, store })
      if (!ok) throw new Error(JSON.stringify(body))
      answer = body
    }
    send(res, answer)
  }
}

const HOSTS: Record<string, () => Promise<RequestListener>> = {
  'handled-0': () => handledTimes(0),
  'handled-1': () => handledTimes(1),
  'handled-2': () => handledTimes(2),
  'handled-3': () => handledTimes(3),
  async 'express-constant'() {
    const answerTo = await answers()
    const app = express()
    app.use(express.json())
    app.post('/{*path}', (req, res) => void res.json(answerTo(req.path)))
    return app
  },
  async 'express-sallyport'() {
    return express().use(toExpress(await sallyport()))
  },
  async 'koa-constant'() {
    const answerTo = await answers()
    const app = new Koa().use(bodyParser())
    app.use((ctx) => {
      ctx.body = answerTo(ctx.path)
    })
    return app.callback()
  },
  async 'koa-sallyport'() {
    return new Koa().use(toKoa(await sallyport())).callback()
  },
  async 'hono-constant'() {
    const answerTo = await answers()
    const app = new Hono()
    app.post('/*', async (c) => {
      await c.req.json()
      return c.json(answerTo(c.req.path) as object)
    })
    return getRequestListener(app.fetch)
  },
  async 'hono-sallyport'() {
    const handler = toFetch(await sallyport())
    const app = new Hono()
    app.all('/api/*', (c) => handler(c.req.raw))
    return getRequestListener(app.fetch)
  },
  async 'node-constant'() {
    const answerTo = await answers()
    return async (req, res) => {
      await json(req)
      send(res, answerTo(req.url))
    }
  },
  async 'bare-constant'() {
    const answerTo = await answers()
    return (req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        JSON.parse(Buffer.concat(chunks).toString())
        send(res, answerTo(req.url))
      })
    }
  },
  async 'bare-sallyport'() {
    return toNode(await sallyport())
  },
  async 'node-sallyport'() {
    return toNode(await sallyport())
  },
}

const host = HOSTS[process.argv[2] ?? '']
if (!host) throw new Error(`no such host; there are ${Object.keys(HOSTS).join(', ')}`)
const server = createServer(await host()).listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port)
})
