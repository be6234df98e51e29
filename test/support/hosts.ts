import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import type { Mountable } from '../../src/http/answer.ts'

const require = createRequire(import.meta.url)
export const express4: typeof express = require('express4')
export const Koa2: typeof Koa = require('koa2')

export interface HostOptions {
  readonly basePath?: string
  /** The host has parsed JSON bodies before Sallyport sees them; under fetch it has read a copy. */
  readonly parser?: boolean
}

export interface RunningHost {
  /** The origin: scheme, address and port. */
  readonly url: string
  close(): Promise<void>
}

/** A server of some framework with Sallyport in it, which answers every other path with 200 and {@link HOST_ANSWER}. */
export interface Host {
  readonly name: string
  start(sallyport: Mountable, options?: HostOptions): Promise<RunningHost>
}

export const HOST_ANSWER = 'the host itself'

/** Starts a server on a free port of the loopback interface. */
export function listen(listener: RequestListener | Server): Promise<RunningHost> {
  const server = typeof listener === 'function' ? createServer(listener) : listener
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({
        url: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeAllConnections()
          }),
      })
    })
  })
}

export const hosts: readonly Host[] = [
  { name: 'Express 5', start: (sallyport, options) => startExpress(express, sallyport, options) },
  { name: 'Express 4', start: (sallyport, options) => startExpress(express4, sallyport, options) },
  { name: 'Koa 3', start: (sallyport, options) => startKoa(Koa, sallyport, options) },
  { name: 'Koa 2', start: (sallyport, options) => startKoa(Koa2, sallyport, options) },
  { name: 'node:http', start: startNode },
  { name: 'fetch', start: startFetch },
  { name: 'Hono', start: startHono },
]

function startExpress(
  framework: typeof express,
  sallyport: Mountable,
  options: HostOptions = {},
): Promise<RunningHost> {
  const app = framework()
  if (options.parser) app.use(framework.json())
  app.use(toExpress(sallyport, options))
  app.use((_req, res) => void res.type('text').send(HOST_ANSWER))
  return listen(app)
}

function startKoa(Framework: typeof Koa, sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const app = new Framework()
  app.silent = true
  if (options.parser) app.use(bodyParser())
  app.use(toKoa(sallyport, options))
  app.use((ctx) => {
    ctx.body = HOST_ANSWER
  })
  return listen(app.callback())
}

function startNode(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const handler = toNode(sallyport, options)
  return listen(async (req, res) => {
    if (options.parser && req.headers['content-type']?.startsWith('application/json')) {
      const text = await new Response(Readable.toWeb(req)).text()
      try {
        Object.assign(req, { body: JSON.parse(text) })
      } catch {
        return void res.writeHead(400).end()
      }
    }
    await handler(req, res, () => void res.end(HOST_ANSWER))
  })
}

function startFetch(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const handler = toFetch(sallyport, { ...options, notFound: () => new Response(HOST_ANSWER) })
  const fetch = async (request: Request): Promise<Response> => {
    if (options.parser && request.body) await request.clone().text()
    return handler(request)
  }
  return listen(createAdaptorServer({ fetch }) as Server)
}

function startHono(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const handler = toFetch(sallyport, options)
  const app = new Hono()
  app.all(`${options.basePath ?? ''}/api/*`, async (c) => {
    if (options.parser && c.req.raw.body) await c.req.raw.clone().text()
    return handler(c.req.raw)
  })
  app.all('*', (c) => c.text(HOST_ANSWER))
  return listen(createAdaptorServer({ fetch: app.fetch }) as Server)
}
