import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface OtherSite {
  /** URL of a page with this HTML. `localhost` is another site than `127.0.0.1`; on that host it is another origin of the same site. */
  urlOf(host: 'localhost' | '127.0.0.1', html: string): string
  close(): Promise<void>
}

/** Serves pages of attackers on a port of their own. */
export async function serveOtherSite(): Promise<OtherSite> {
  const pages: string[] = []
  const server = createServer(({ url = '' }, response) => {
    const html = pages[Number(url.slice(1))]
    response.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><title>Other</title><link rel="icon" href="data:,">${html ?? ''}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (host, html) => `http://${host}:${port}/${pages.push(html) - 1}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
