import middie from '@fastify/middie'
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type onRequestHookHandler } from 'fastify'
import { type Mountable, toNode } from '../../../src/adapters/node.ts'
import { HOST_ANSWER, HOST_ERROR, type Host, type HostOptions, type RunningHost, runningAt } from './host.ts'

/** Sallyport in the first hook of a plugin, before Fastify's parsers. */
export const fastifyHost: Host = {
  name: 'Fastify 5',
  mounts: { whole: 'the prefix of a plugin stays on the URL of a request' },
  errors: 'framework',
  parser: 'first',
  start: (sallyport, options) => start(mountPlugin, sallyport, options),
}

/** Sallyport as Connect-style middleware, through `@fastify/middie`. */
export const middieHost: Host = {
  name: 'Fastify 5 with middie',
  mounts: 'strips',
  errors: 'framework',
  parser: 'first',
  start: (sallyport, options) => start(mountMiddleware, sallyport, options),
}

type Mounting = (app: FastifyInstance, sallyport: Mountable, options: HostOptions) => Promise<void>

async function mountPlugin(app: FastifyInstance, sallyport: Mountable, options: HostOptions): Promise<void> {
  const { parser, mountPath: _, ...mount } = options
  const handle = toNode(sallyport, mount)
  const answer: onRequestHookHandler = (request, reply, done) => {
    if (parser) Object.assign(request.raw, { body: request.body })
    void handle(request.raw, reply.raw, (error) => done(error as Error | undefined))
  }
  const plugin: FastifyPluginAsync = async (scope) => {
    if (parser) scope.addHook('preHandler', answer)
    else scope.addHook('onRequest', answer)
    scope.all('/api/*', (_request, reply) => reply.callNotFound())
  }
  await app.register(plugin, { prefix: mount.basePath ?? '' })
}

async function mountMiddleware(app: FastifyInstance, sallyport: Mountable, options: HostOptions): Promise<void> {
  const { mountPath, parser, ...mount } = options
  await app.register(middie, { hook: parser ? 'preHandler' : 'onRequest' })
  app.use(mountPath ?? '/', toNode(sallyport, mount))
}

async function start(mounting: Mounting, sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const errors: unknown[] = []
  const app = Fastify()
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    errors.push(error)
    void reply.code(error.statusCode ?? HOST_ERROR).send('the error handler of the host')
  })
  await mounting(app, sallyport, options)
  app.post('/own/json', async (request) => ({ own: request.body }))
  app.setNotFoundHandler((_request, reply) => void reply.code(200).send(HOST_ANSWER))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return runningAt(app.server, errors, () => app.close())
}
