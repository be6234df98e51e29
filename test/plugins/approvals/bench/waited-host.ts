/**
 * A host that many wait on: `node --expose-gc waited-host.ts <url of the database> <sha256> <count>`. It asks for approvals, listens, and
 * sends its port. `/bare` waits without Sallyport. Each message from its parent is answered with a {@link WaitedFigure}.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from 'sallyport'
import { toNode } from 'sallyport/node'
import { inFlight } from '../../../labs/bench/storage-measure.ts'
import { ASKED, hostAt } from './asking-host.ts'

/** What the parent is told. */
export interface WaitedFigure {
  /** Bytes after a collection. */
  readonly heap: number
  /** Statements so far. */
  readonly statements: number
  /** Requests that wait now. */
  readonly waiting: number
}

const [url = '', sha256 = '', count = '0'] = process.argv.slice(2)
let statements = 0
let waiting = 0
const clock: Clock = {
  now: () => Date.now(),
  after(ms, run, keepAlive) {
    // The timer of a wait: it is cleared at its end.
    if (keepAlive) waiting += 1
    const timer = setTimeout(run, ms)
    return () => {
      if (keepAlive) waiting -= 1
      clearTimeout(timer)
    }
  },
}
const { sallyport } = hostAt(url, {
  sha256,
  clock,
  log() {
    statements += 1
  },
})
let asked = 0
await inFlight(Number(count), 20, () => sallyport.approvals.request({ ...ASKED, approvalId: `a${asked++}` }))

const handle = toNode(sallyport)
const server = createServer((request, response) => {
  if (request.url?.startsWith('/bare')) {
    waiting += 1
    response.once('close', () => {
      waiting -= 1
    })
  } else handle(request, response)
})
server.requestTimeout = 0
server.listen({ port: 0, host: '127.0.0.1', backlog: 10_000 }, () => {
  process.send?.((server.address() as AddressInfo).port)
})
process.on('message', (asked: 'waiting' | 'figure') => {
  if (asked === 'figure') for (let times = 0; times < 3; times++) globalThis.gc?.()
  const figure: WaitedFigure = { heap: process.memoryUsage().heapUsed, statements, waiting }
  process.send?.(figure)
})
process.on('disconnect', () => process.exit())
