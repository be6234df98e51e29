import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { DISPATCH } from '../../adapters/matrix/paths.ts'
import { call, type Reply } from '../../support/host-call.ts'
import { fc, SEED } from '../../support/properties.ts'
import { watchBuiltins } from './builtins.ts'
import { type HostileRequest, hostileRequest, KNOWN_REQUESTS, parsed } from './hostile-requests.ts'
import { readBack } from './read-back.ts'
import { SECRET } from './shop.ts'
import type { TestApp } from './test-app.ts'
import { checkAnswer } from './verdict.ts'

/** Counts of a barrage. */
export interface Totals {
  sent: number
  /** Accepted dispatches and runs that read back as sent. */
  readBack: number
  readonly statuses: Map<number, number>
  readonly codes: Map<string, number>
}

export interface Barrage {
  readonly apps: readonly TestApp[]
  /** Total number of requests. */
  readonly requests: number
  readonly onAnswer?: (totals: Totals) => void
}

/**
 * Sends hostile requests to every server of every app, over one connection each. Fails at the first wrong answer or
 * side effect; fast-check then reports the smallest failing request.
 */
export async function barrage({ apps, requests, onAnswer }: Barrage): Promise<Totals> {
  const totals: Totals = { sent: 0, readBack: 0, statuses: new Map(), codes: new Map() }
  const stray: unknown[] = []
  const note = (fault: unknown): void => void stray.push(fault)
  const checkBuiltins = watchBuiltins()
  process.on('unhandledRejection', note).on('uncaughtException', note)
  const queues = apps.flatMap((app) =>
    app.hosts.map((host) => ({ app, url: host.url, name: `${host.name} over ${app.name}` })),
  )
  try {
    await Promise.all(
      queues.map(async ({ app, url, name }, index) => {
        const line = connection(url)
        const property = fc.asyncProperty(hostileRequest, async (request) => {
          await fire(request, line, app, totals)
          assert.deepEqual(stray, [], `unhandled error by the time of ${name}`)
          onAnswer?.(totals)
        })
        try {
          await fc.assert(property, {
            numRuns: Math.ceil(requests / queues.length),
            // Each server gets other requests.
            seed: SEED + index,
            examples: KNOWN_REQUESTS.map((request) => [request]),
          })
          await checkUsable(line)
        } catch (error) {
          throw new Error(`${name}, seed ${SEED}`, { cause: error })
        } finally {
          line.agent.destroy()
        }
      }),
    )
    await new Promise(setImmediate)
    assert.deepEqual(stray, [])
    checkBuiltins()
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note)
  }
  return totals
}

/** One connection that stays open until an answer closes it. */
interface Line {
  readonly url: string
  readonly agent: Agent
  port: number | undefined
}

function connection(url: string): Line {
  return { url, agent: new Agent({ keepAlive: true, maxSockets: 1 }), port: undefined }
}

async function fire(
  { path, headers, body, pieces }: HostileRequest,
  line: Line,
  app: TestApp,
  totals: Totals,
): Promise<void> {
  const reply = await post(
    line,
    path,
    { authorization: `Bearer ${SECRET}`, ...headers },
    pieces ? cut(body, pieces) : body,
  )
  totals.sent++
  count(totals.statuses, reply.status)
  if (reply.json?.code) count(totals.codes, reply.json.code)
  const sent = parsed(new TextDecoder().decode(body))
  // The server does not look into a post that is too large, so its faults go unnoticed.
  if (reply.status === 200 && sent === undefined) return assert.ok(hasUnread(reply))
  checkAnswer(reply, sent)
  if (reply.status < 300) totals.readBack += await readBack(reply.json, sent, app)
}

async function post(
  line: Line,
  path: string,
  headers: Record<string, string>,
  body: Buffer | readonly Buffer[],
): Promise<Reply> {
  const reply = await call(line.url + path, { agent: line.agent, headers, body })
  if (line.port !== undefined) assert.equal(reply.port, line.port, 'the connection was given up')
  line.port = reply.headers.connection === 'close' ? undefined : reply.port
  return reply
}

/** A valid request still works on the connection. */
async function checkUsable(line: Line): Promise<void> {
  const body = Buffer.from(JSON.stringify({ eventType: 'any', recipient: 'user_42' }))
  const reply = await post(line, DISPATCH, { authorization: `Bearer ${SECRET}` }, body)
  assert.equal(reply.status, 202)
}

function cut(body: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
    body.subarray(index * size, (index + 1) * size),
  )
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function hasUnread({ json }: Reply): boolean {
  return json.results.some(({ problem }: { problem?: { code: string } }) => problem?.code === 'body_too_large')
}
