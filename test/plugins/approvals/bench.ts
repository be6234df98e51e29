import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SallyportStore } from 'sallyport'
import { generateAppSecret } from 'sallyport/auth'
import { memoryStore } from 'sallyport/storage/memory'
import { sqlStore } from 'sallyport/storage/sql'
import { median, quantile, rateLine, ratesInTurns, ratios, spread } from '../../labs/bench/measure.ts'
import { type BenchDatabase, isThere, POSTGRES_URL, withDatabase } from '../../labs/bench/storage-databases.ts'
import { inFlight, printProcessorTime, sideBySide } from '../../labs/bench/storage-measure.ts'
import { APPROVER, ASKED, askingHost, hostAt } from './bench/asking-host.ts'
import type { WaitedFigure } from './bench/waited-host.ts'

const ON_POSTGRES: Readonly<Record<string, (database: BenchDatabase) => Promise<void>>> = {
  requests: benchRequestsOnPostgres,
  answers: benchAnswers,
  waiters: benchWaiters,
}

/** Approvals: what a request costs, how soon a waiting agent hears of an answer, and what those that wait cost. `-- approvals answers`: one part. */
export async function bench(): Promise<void> {
  const wanted = process.argv[3]
  if (wanted === undefined || wanted === 'requests') await benchRequests()
  if (!(await isThere(POSTGRES_URL, 5432))) return
  for (const [name, part] of Object.entries(ON_POSTGRES))
    if (wanted === undefined || wanted === name) await withDatabase(part)
}

/** A request to one approver, beside a dispatch of the same message, and one with a key, which is stored once like a request. */
function tasksOn(store: () => SallyportStore) {
  let host = askingHost({ store: store() })
  let count = 0
  const told = {
    eventType: 'tell',
    recipient: APPROVER,
    sessionId: ASKED.sessionId,
    eventData: { approval: { ...ASKED } },
  }
  return {
    renew() {
      host = askingHost({ store: store() })
    },
    tasks: {
      dispatch: () => host.dispatchOrThrow(told),
      'dispatch with a key': () => host.dispatchOrThrow(told, { idempotencyKey: `k${count++}` }),
      'request of approval': () => host.approvals.request({ ...ASKED, approvalId: `a${count++}` }),
    },
  }
}

async function benchRequests(): Promise<void> {
  const { tasks, renew } = tasksOn(() => memoryStore())
  const rates = await ratesInTurns(tasks, renew)
  console.log('\nRequest of an approval, memory store: calls a second, us a call, its time as a ratio to a dispatch')
  for (const [name, values] of Object.entries(rates))
    console.log(`${rateLine(name, values)}   ${spread(ratios(rates.dispatch, values))}`)
}

const REQUESTS = 1_000

async function benchRequestsOnPostgres({ kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  await store.migrate()
  const { tasks } = tasksOn(() => store)
  for (const places of [20, 1]) {
    const sides = Object.entries(tasks).map(([name, task]) => [
      name,
      () => inFlight(places === 1 ? REQUESTS / 4 : REQUESTS, places, task),
    ])
    const figures = await sideBySide(
      `Request of an approval, PostgreSQL, ${places} at a time: time as a ratio to a dispatch`,
      7,
      Object.fromEntries(sides),
    )
    const { dispatch = [], 'request of approval': request = [] } = figures
    printProcessorTime({ dispatch, request })
  }
}

const ANSWERS = 300
/** Longer than the pause of a queue between notices. */
const PAUSE_MS = 25

/** From an answer to an agent that waits in another process, beside a bare notice to that process, both with the message back to this one. */
async function benchAnswers({ url, kysely }: BenchDatabase): Promise<void> {
  await sqlStore({ db: kysely, dialect: 'postgresql' }).migrate()
  const { sallyport, queue, close } = hostAt(url)
  // Connects it.
  const stopListening = queue.listen({ due() {}, connected() {}, lost() {} })
  const agent = start('waiter.ts', [url])
  await message(agent, 'connected')
  const [wakes, answers, heard]: [number[], number[], number[]] = [[], [], []]
  for (let at = -20; at < ANSWERS; at++) {
    const approvalId = `a${at}`
    await sallyport.approvals.request({ ...ASKED, approvalId })
    const waits = message(agent, 'waiting')
    agent.send(approvalId)
    await waits
    await setTimeout(PAUSE_MS)

    const woken = message(agent, 'woken')
    const notified = performance.now()
    queue.notify?.('bench')
    const wake = (await woken) - notified
    await setTimeout(PAUSE_MS)

    const ended = message(agent, 'ended')
    const asked = performance.now()
    await sallyport.approvals.answer({ sessionId: ASKED.sessionId, approvalId, user: APPROVER, answer: 'accept' })
    const answered = performance.now()
    const end = await ended
    if (at < 0) continue
    wakes.push(wake)
    answers.push(end - asked)
    heard.push(end - answered)
  }
  agent.disconnect()
  await once(agent, 'exit')
  stopListening()
  await close()
  console.log(`\nFrom an answer to an agent that waits in another process, PostgreSQL, ${ANSWERS} of each: ms`)
  printTimes('a bare notice of postgresQueue', wakes)
  printTimes('from the answer that is stored', heard, wakes)
  printTimes('from the call of answer', answers, wakes)
}

function printTimes(name: string, times: readonly number[], base?: readonly number[]): void {
  const [p50, p99] = [median(times), quantile(times, 0.99)]
  const ratio = base ? `   median ${(p50 / median(base)).toFixed(2)} times the notice` : ''
  console.log(`  ${name.padEnd(34)} median ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}${ratio}`)
}

const WAITERS = 5_000
const FEW = 50
const WATCHED_MS = 5_000
const LOOK_MS = 100
/** Connections that open at a time. */
const OPENING = 50

/** Requests that wait on one process: its heap, beside requests that wait on a bare server, and the statements that it makes for them. */
async function benchWaiters({ url, kysely }: BenchDatabase): Promise<void> {
  await sqlStore({ db: kysely, dialect: 'postgresql' }).migrate()
  const { secret, sha256 } = await generateAppSecret({ env: 'bench' })
  const host = start('waited-host.ts', [url, sha256, String(WAITERS)], ['--expose-gc'])
  const [port] = (await once(host, 'message')) as [number]
  const figure = async (of: 'figure' | 'waiting' = 'figure'): Promise<WaitedFigure> => {
    const given = once(host, 'message')
    host.send(of)
    return ((await given) as [WaitedFigure])[0]
  }
  const allWait = async (count: number): Promise<void> => {
    while ((await figure('waiting')).waiting !== count) await setTimeout(LOOK_MS)
  }
  const paths = {
    bare: () => '/bare',
    waiting: (at: number) => `/api/agents/session/approval/a${at}?sessionId=${ASKED.sessionId}&waitMs=30000`,
  }

  /** Opens connections with one request each, and measures once nothing changes. */
  async function measure(
    path: (at: number) => string,
    count: number,
  ): Promise<{ readonly heap: number; readonly perSecond: number }> {
    const before = await figure()
    const sockets: Socket[] = []
    await inFlight(count, OPENING, async () => {
      const socket = connect(port, '127.0.0.1')
      const at = sockets.push(socket) - 1
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(`GET ${path(at)} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\n\r\n`)
    })
    await allWait(count)
    const [first, since] = [await figure(), performance.now()]
    await setTimeout(WATCHED_MS)
    const last = await figure()
    const perSecond = ((last.statements - first.statements) * 1_000) / (performance.now() - since)
    if (sockets.some((socket) => socket.bytesRead > 0)) throw new Error('a request did not wait')
    for (const socket of sockets) socket.destroy()
    // Requests of approvals wait until their time is over, although nobody hears them.
    await allWait(0)
    return { heap: (first.heap - before.heap) / count, perSecond }
  }

  // Compiles what is measured.
  await measure(paths.bare, FEW)
  const few = await measure(paths.waiting, FEW)
  const bare = await measure(paths.bare, WAITERS)
  const many = await measure(paths.waiting, WAITERS)
  host.disconnect()
  await once(host, 'exit')
  const kB = (bytes: number): string => (bytes / 1_000).toFixed(1)
  console.log(`\n${WAITERS} requests that wait on one process, over toNode and PostgreSQL`)
  console.log(`  heap of each: ${kB(many.heap)} kB; of one that waits on a bare server: ${kB(bare.heap)} kB`)
  console.log(`  statements a second: ${many.perSecond.toFixed(1)}; for ${FEW}: ${few.perSecond.toFixed(1)}`)
}

function start(program: string, args: readonly string[], flags: readonly string[] = []): ChildProcess {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
  return fork(path(`bench/${program}`), args, {
    execArgv: [...flags, '--import', 'tsx'],
    env: { ...process.env, TSX_TSCONFIG_PATH: path('../../labs/bench/tsconfig.json') },
  })
}

/** Resolves to the time at which a process sends this message. */
function message(child: ChildProcess, text: string): Promise<number> {
  return new Promise((resolve) => {
    const look = (given: unknown): void => {
      if (given !== text) return
      child.off('message', look)
      resolve(performance.now())
    }
    child.on('message', look)
  })
}
