import { createRequire } from 'node:module'
import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import mount from 'koa-mount'
import { type Mountable, toKoa } from '../../../src/adapters/koa.ts'
import { HOST_ANSWER, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

const require = createRequire(import.meta.url)
export const Koa2: typeof Koa = require('koa2')

export const koa3Host: Host = hostOf('Koa 3', Koa)
export const koa2Host: Host = hostOf('Koa 2', Koa2)

function hostOf(name: string, Framework: typeof Koa): Host {
  return {
    name,
    mounts: 'strips',
    errors: 'framework',
    parser: 'first',
    start: (sallyport, options) => start(Framework, sallyport, options),
  }
}

function start(Framework: typeof Koa, sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { mountPath, parser, ...rest } = options
  const errors: unknown[] = []
  const app = new Framework()
  app.on('error', (error) => void errors.push(error))
  if (parser) app.use(bodyParser())
  app.use(mountPath ? mount(mountPath, toKoa(sallyport, rest)) : toKoa(sallyport, rest))
  app.use(bodyParser())
  app.use((ctx) => {
    ctx.body = ctx.path === '/own/json' ? { own: ctx.request.body } : HOST_ANSWER
  })
  return listen(app.callback(), errors)
}
