import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toNode } from '../../src/adapters/node.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { HostClock } from '../support/host-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CHUNKS = 1_000
/** A stream keeps the chunk that it hands over. */
const HANDED_OVER = 2
const RUN = '/api/agents/session/run'

const sallyport = createSallyport({
  // No body is too slow.
  ...{ auth: testAuth, store: memoryStore(), logger: recordingLogger(), clock: new HostClock() },
  ...{ events: defineEvents({ plain: { channels: { a: {} } } }), channels: { a: recordingChannel() } },
})

/** Holds weak references to the chunks of a body. */
function weakChunks() {
  const refs: WeakRef<Uint8Array>[] = []
  let finish = (): void => {}
  const all = new Promise<void>((resolve) => {
    finish = resolve
  })
  return {
    all,
    add(chunk: Uint8Array): void {
      if (refs.push(new WeakRef(chunk)) === CHUNKS) finish()
    },
    /** The number of chunks still in memory, after up to 20 garbage collections. */
    async remaining(): Promise<number> {
      let kept = CHUNKS
      for (let round = 0; round < 20 && kept > HANDED_OVER; round++) {
        await setImmediate()
        collectGarbage()
        kept = refs.filter((ref) => ref.deref() !== undefined).length
      }
      return kept
    },
  }
}

test('toNode keeps no chunk of a body that is still arriving', async () => {
  const chunks = weakChunks()
  const handle = toNode(sallyport)
  const server = createServer((request, response) => {
    const push = request.push.bind(request)
    request.push = (chunk, encoding) => {
      if (chunk) chunks.add(chunk)
      return push(chunk, encoding)
    }
    handle(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  const head = ['host: a', 'authorization: Bearer app', 'content-type: application/json', 'transfer-encoding: chunked']
  socket.write(`POST ${RUN} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${'1\r\n \r\n'.repeat(CHUNKS)}`)
  await chunks.all
  expect(await chunks.remaining()).toBeLessThanOrEqual(HANDED_OVER)
  expect(socket.bytesRead).toBe(0)
})

test('toFetch keeps no chunk of a body that is still arriving', async () => {
  const chunks = weakChunks()
  let count = 0
  const body = new ReadableStream({
    async pull(controller) {
      if (count++ === CHUNKS) return new Promise<void>(() => {})
      const chunk = new TextEncoder().encode(' ')
      chunks.add(chunk)
      controller.enqueue(chunk)
    },
  })
  const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
  const left = new AbortController()
  onTestFinished(() => left.abort())
  const init: RequestInit & { duplex: 'half' } = {
    ...{ method: 'POST', headers, body, duplex: 'half', signal: left.signal },
  }
  void toFetch(sallyport)(new Request(`http://localhost${RUN}`, init))
  await chunks.all
  expect(await chunks.remaining()).toBeLessThanOrEqual(HANDED_OVER)
})
