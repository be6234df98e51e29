import type { Framework, Project } from './project.ts'
import type { StoreName } from './storage-file.ts'

export type ServerFramework = Exclude<Framework, 'next'>

/** Parts of the file that mounts Sallyport in one framework. */
interface Mount {
  /** Imports apart from that of the instance, in the order of their modules. */
  readonly imports: readonly string[]
  readonly code: string
}

/** The file that mounts Sallyport in a server, and starts and stops its worker. */
export function mountFile(framework: ServerFramework, project: Project, store: StoreName): string {
  const { isTypeScript, imported } = project
  const { imports, code } = MOUNTS[framework](store !== 'memory', (text) => (isTypeScript ? text : ''))
  const all = [
    ...imports.filter((line) => isTypeScript || !line.startsWith('import type ')),
    `import { sallyport } from './sallyport${imported}'`,
    ...(store === 'memory' ? [] : [`import { storage } from './storage${imported}'`]),
  ]
  return `${all.join('\n')}\n\n${code}`
}

/** Gives its text in TypeScript, nothing in JavaScript. */
type Typed = (text: string) => string

const SERVER = "import type { Server } from 'node:http'"

const MOUNTS: Readonly<Record<ServerFramework, (hasStorage: boolean, typed: Typed) => Mount>> = {
  express: (hasStorage, typed) => ({
    imports: [SERVER, "import { toExpress } from 'sallyport/express'"],
    code: `export const outbound = toExpress(sallyport)\n\n${starting(hasStorage, typed)}`,
  }),
  koa: (hasStorage, typed) => ({
    imports: [SERVER, "import { toKoa } from 'sallyport/koa'"],
    code: `export const outbound = toKoa(sallyport)\n\n${starting(hasStorage, typed)}`,
  }),
  node: (hasStorage, typed) => ({
    imports: ["import type { RequestListener, Server } from 'node:http'", "import { toNode } from 'sallyport/node'"],
    code: `const handle = toNode(sallyport)

/** Answers Sallyport's paths. Passes other requests on to the listener. */
export function withOutbound(listener${typed(': RequestListener')})${typed(': RequestListener')} {
  return (req, res) => {
    void handle(req, res, (error) => {
      if (error) {
        console.error(error)
        res.writeHead(500).end()
      } else listener(req, res)
    })
  }
}

${starting(hasStorage, typed)}`,
  }),
  hono: (hasStorage, typed) => ({
    imports: [
      SERVER,
      "import type { ServerType } from '@hono/node-server'",
      "import { Hono } from 'hono'",
      "import { toFetch } from 'sallyport/fetch'",
    ],
    code: `const handle = toFetch(sallyport)

export const outbound = new Hono()
outbound.all('/api/outbound/*', (c) => handle(c.req.raw))
outbound.all('/api/agents/*', (c) => handle(c.req.raw))

${starting(hasStorage, typed, {
  parameter: typed('serving: ServerType') || 'server',
  before: typed('  const server = serving as Server // HTTP/1\n'),
  closing: CLOSING,
})}`,
  }),
  fastify: (hasStorage, typed) => ({
    imports: ["import type { FastifyPluginAsync } from 'fastify'", "import { toNode } from 'sallyport/node'"],
    code: `const handle = toNode(sallyport)

/** Answers Sallyport's paths before Fastify reads bodies, and delivers until SIGTERM. */
export const outbound${typed(': FastifyPluginAsync')} = async (app) => {
  const { server } = app
  app.addHook('onRequest', (request, reply, done) => {
    void handle(request.raw, reply.raw, (error) => done(error${typed(' as Error | undefined')}))
  })
  for (const path of ['/api/outbound/*', '/api/agents/*'])
    app.all(path, (_request, reply) => reply.callNotFound()) // Sallyport has no such path
${hasStorage ? "  app.addHook('onReady', () => storage.open()) // creates the tables\n" : ''}  app.addHook('onListen', async () => sallyport.worker.start())
${stopping(hasStorage, CLOSING).replace('server.close()', 'void app.close()')}}
`,
  }),
}

/** The framework's own answers close their connection too. Express, Koa and node:http need no such line. */
const CLOSING =
  "    server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))\n"

/** The function `startOutbound`. */
function starting(
  hasStorage: boolean,
  typed: Typed,
  { parameter = `server${typed(': Server')}`, before = '', closing = '' } = {},
): string {
  const [about, head, open] = hasStorage
    ? ['Creates the tables, and delivers until SIGTERM', 'async function', '  await storage.open()\n']
    : ['Delivers until SIGTERM', 'function', '']
  return `/** ${about}. Then finishes what is under way and closes the server. */
export ${head} startOutbound(${parameter})${typed(hasStorage ? ': Promise<void>' : ': void')} {
${before}${open}  sallyport.worker.start()
${stopping(hasStorage, closing)}}
`
}

function stopping(hasStorage: boolean, closing: string): string {
  const stop = hasStorage
    ? `    const stopped = sallyport.stop({ graceMs: 15_000 })
    server.once('close', () => void stopped.then(storage.close)) // last, because outcomes are stored until then
`
    : '    void sallyport.stop({ graceMs: 15_000 })\n'
  return `  process.once('SIGTERM', () => {
${stop}${closing}    setTimeout(() => server.close(), 1_000)
    setTimeout(() => server.closeAllConnections(), 15_000).unref()
  })
`
}
