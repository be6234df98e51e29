import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { CERTIFICATE, KEY } from '../../channels/certificate.ts'

/** Servers on all addresses of this machine, IPv4 and IPv6, that no test may reach with the guard on. */
export interface Canary {
  readonly http: readonly number[]
  readonly https: readonly number[]
  readonly ports: readonly number[]
  /** Number of accepted connections, with or without a request. */
  accepted(): number
  /** Number of requests. */
  requests(): number
  close(): void
}

/** Opens two ports for HTTP and two for HTTPS, with a certificate for `hook.example`. */
export async function openCanary(): Promise<Canary> {
  let [accepted, requests] = [0, 0]
  const http = [0, 1].map(() => createHttpServer((_request, response) => response.end()))
  const https = [0, 1].map(() =>
    createHttpsServer({ cert: CERTIFICATE, key: KEY }, (_request, response) => response.end()),
  )
  const servers = [...http, ...https]
  for (const server of servers) {
    server.on('connection', () => void accepted++)
    server.on('request', () => void requests++)
    await once(server.listen(0, '::'), 'listening')
  }
  return {
    ...{ http: http.map(portOf), https: https.map(portOf), ports: servers.map(portOf) },
    ...{ accepted: () => accepted, requests: () => requests },
    close() {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
