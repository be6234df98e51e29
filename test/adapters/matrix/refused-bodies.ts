import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { call } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { RUN } from './paths.ts'
import { starterOf } from './started.ts'

const MIB = 1_048_576
/** Socket and kernel buffers hold a few MiB. */
const HELD_BY_KERNELS = 24 * MIB
const FLOOD = 96 * MIB

/** Tests of connections on which a refused body is still arriving. */
export function testRefusedBodies(host: Host): void {
  const start = starterOf(host)

  describe('bodies that are refused while they arrive', () => {
    test.each([
      ['without a token', undefined, 401],
      ['with a bad token', 'Bearer bad', 401],
      ['over the limit', 'Bearer good', 413],
    ])('A body %s is not read to its end, and its connection closes', async (_name, token, status) => {
      const { url, endpoints } = await start()
      const socket = openPost(url, token)
      const flood = flooding(socket)
      const answer = await answerOf(socket)
      expect(answer).toContain(`HTTP/1.1 ${status} `)
      expect(answer.toLowerCase()).toContain('connection: close')
      await endpoints.clock.pending(1)
      endpoints.clock.advance(1_000)
      expect(await flood).toBeLessThan(HELD_BY_KERNELS)
      await endpoints.clock.pending(0)
    })

    test('A client with large refused bodies gets all answers', async () => {
      const { url, complete } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const big = 'x'.repeat(200_000)
      const statuses: number[] = []
      for (const sent of [
        { body: '{}' },
        { body: big, headers: { authorization: undefined } },
        { body: big },
        { body: [big, big] },
        { body: [big, big], headers: { 'content-type': 'text/plain' } },
        { method: 'PUT', body: big },
        { body: '{"a":1}' },
      ]) {
        statuses.push((await complete(call(url + RUN, { ...sent, agent }))).status)
      }
      agent.destroy()
      expect(statuses).toEqual([201, 401, 413, 413, 415, 405, 201])
    })
  })
}

function openPost(url: string, token: string | undefined): Socket {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = [`POST ${RUN} HTTP/1.1`, `host: ${host}`, 'content-type: application/json', 'transfer-encoding: chunked']
  if (token !== undefined) head.push(`authorization: ${token}`)
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return socket
}

/** The answer with its body. Later data is discarded. */
async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  while (!/\r\n\r\n.*\{.*\}/s.test(text)) text += String((await once(socket, 'data'))[0])
  socket.resume()
  return text
}

/**
 * Sends chunks until the server closes the connection or `FLOOD` is reached. Resolves to the number of accepted bytes.
 */
function flooding(socket: Socket): Promise<number> {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 120), Buffer.from('\r\n')])
  let taken = 0
  return new Promise((resolve) => {
    socket.on('error', () => {})
    socket.on('close', () => resolve(taken))
    const next = (): void => {
      if (taken >= FLOOD) return void socket.destroy()
      socket.write(chunk, (error) => {
        if (error) return
        taken += chunk.length
        next()
      })
    }
    next()
  })
}
