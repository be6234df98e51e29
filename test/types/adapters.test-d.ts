import type { RequestListener } from 'node:http'
import type { RequestHandler } from 'express'
import type { Hono } from 'hono'
import type { Middleware } from 'koa'
import { expectTypeOf, test } from 'vitest'
import type { toExpress } from '../../src/adapters/express.ts'
import type { toFetch } from '../../src/adapters/fetch.ts'
import type { toKoa } from '../../src/adapters/koa.ts'
import type { toNode } from '../../src/adapters/node.ts'

test('Each adapter returns the handler type of its host', () => {
  expectTypeOf<ReturnType<typeof toExpress>>().toExtend<RequestHandler>()
  expectTypeOf<ReturnType<typeof toKoa>>().toExtend<Middleware>()
  expectTypeOf<ReturnType<typeof toNode>>().toExtend<RequestListener>()
  expectTypeOf<ReturnType<typeof toFetch>>().toExtend<Parameters<Hono['mount']>[1]>()
  expectTypeOf<ReturnType<typeof toFetch>>().toExtend<(request: Request) => Promise<Response>>()
})
