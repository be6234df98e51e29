import { createServer } from 'node:http'
import next from 'next'
import type { Mountable } from '../../../src/adapters/fetch.ts'
import { NO_NEXT } from './fetch.ts'
import { type Host, type HostOptions, listen, type RunningHost } from './host.ts'
import { BASE_PATH, buildNextApp } from './next-app.ts'

declare global {
  // The instance that the app's route files mount.
  var sallyportInTest: Mountable | undefined
}

// TypeScript sees a module with a default export; Node gives that export itself.
const createApp = next as unknown as typeof next.default

type NextApp = ReturnType<typeof createApp>
let app: NextApp | undefined

/** A built app, served by Next's own server in this process. One host at a time: the app has one Sallyport module. */
export const nextHost: Host = {
  name: 'Next.js 16',
  mounts: { whole: 'a route file is where it is, and sees the whole path' },
  errors: { sallyport: NO_NEXT },
  parser: { none: 'nothing runs before a route handler that leaves it a request that was read' },
  delivers: 'after the answer',
  own: {
    'redirects trailing slashes': 'a 308 to the path without, unless skipTrailingSlashRedirect is set',
    'sends answers chunked': 'it drops the Content-Length of a route handler',
    'completes the last answer of a connection only as that closes':
      'without a Content-Length the end of an answer is the last chunk, after which Node closes the connection',
    'answers 500 to a malformed path': 'its router decodes the path, and fails',
    'drops the parameter __proto__': 'it parses the query string and writes it again',
    'hands over the first of two Authorization headers': 'it builds its Request from the headers that Node has joined',
  },
  prepare,
  start,
}

async function prepare(): Promise<() => Promise<void>> {
  const built = await buildNextApp()
  app = createApp({ dev: false, dir: built.dir, quiet: true })
  await app.prepare()
  return async () => {
    await app?.close()
    built.remove()
  }
}

async function start(sallyport: Mountable, { basePath }: HostOptions = {}): Promise<RunningHost> {
  if (!app) throw new Error('The app was not built: prepare() first.')
  globalThis.sallyportInTest = sallyport
  const handle = app.getRequestHandler()
  if (basePath !== undefined && basePath !== BASE_PATH) throw new Error(`The app has no route file at ${basePath}`)
  return listen(
    createServer((req, res) => {
      // Disables the mount that the test does not use.
      if (basePath !== undefined && req.url?.startsWith('/api/')) req.url = '/elsewhere'
      void handle(req, res)
    }),
  )
}
