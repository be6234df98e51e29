import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readJson } from '../../support/entries.ts'

/** A package registry on the loopback interface. */
export interface LoopbackRegistry {
  readonly url: string
  close(): Promise<void>
}

const TARBALL = '/sallyport/-/sallyport.tgz'

/** Serves the packed package as if published, and forwards all other requests to the registry `upstream`. */
export async function serveRegistry(tarball: string, upstream: string): Promise<LoopbackRegistry> {
  const packed = await readFile(tarball)
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (path === '/sallyport') return json(response, packument(packed, urlOf()))
    if (path === TARBALL) return void response.end(packed)
    passOn(new URL(path, upstream), request.headers.accept, response).catch(() => response.writeHead(502).end())
  })
  const urlOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: urlOf(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The document of a package with one version, in the form of npm's registry. */
function packument(packed: Buffer, registry: string): object {
  const manifest = readJson('package.json')
  const { version } = manifest
  const dist = {
    tarball: registry + TARBALL,
    integrity: `sha512-${createHash('sha512').update(packed).digest('base64')}`,
    shasum: createHash('sha1').update(packed).digest('hex'),
  }
  const { scripts, devDependencies, ...published } = manifest
  const time = { [version]: '2020-01-01T00:00:00.000Z' }
  return { name: 'sallyport', 'dist-tags': { latest: version }, versions: { [version]: { ...published, dist } }, time }
}

async function passOn(url: URL, accept: string | undefined, response: ServerResponse): Promise<void> {
  const answer = await fetch(url, { headers: accept === undefined ? {} : { accept } })
  const body = Buffer.from(await answer.arrayBuffer())
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
  response.end(body)
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
