import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { generateAppSecret } from 'sallyport/auth'
import { median, spread } from './measure.ts'
import { workload } from './workload.ts'

const ROUNDS = 9
const WARM_UP_SECONDS = 2
const SECONDS = 2
const PATHS = {
  run: '/api/agents/session/run',
  'new run': '/api/agents/session/run',
  dispatch: '/api/outbound/dispatch',
}

/**
 * The compared hosts, and what is posted: one run again and again, a new run each time, or an event. `node`: the constant host reads with `json()` of `node:stream/consumers`; `bare`: it reads with
 * listeners only, the minimum for a host.
 */
const COMPARED = [
  ['express', 'run'],
  ['koa', 'run'],
  ['node', 'run'],
  ['bare', 'run'],
  ['node', 'new run'],
  ['express', 'new run'],
  ['hono', 'run'],
  ['express', 'dispatch'],
  ['node', 'dispatch'],
] as const

/** The requests, the same for every host. */
export interface Load {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of the next request. */
  readonly body: () => string
  readonly connections: number
}

export interface Figure {
  readonly rate: number
  readonly count: number
  readonly p99: number
}

/**
 * Both endpoints in a host, against the same host that parses the body and answers with a constant of the same bytes.
 * Each host has its own process, and both are loaded in turn, so that a slow machine slows both.
 */
export async function benchOverHttp(): Promise<void> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const { event, run } = await workload()
  const [repeated, dispatch] = [JSON.stringify(run('run-1')), JSON.stringify(event)]
  let count = 0
  const bodies = {
    run: () => repeated,
    'new run': () => repeated.replace('run-1', `run-${++count}`),
    dispatch: () => dispatch,
  }
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  for (const connections of [1, 50]) {
    console.log(`\nOver HTTP, ${connections} at a time: requests a second, p99 in ms, both as ratios to the constant`)
    for (const [framework, operation] of COMPARED) {
      const load = { path: PATHS[operation], body: bodies[operation], headers, connections }
      await compare(`${framework}-constant`, `${framework}-sallyport`, operation, load, secret)
    }
  }
}

async function compare(floor: string, ours: string, operation: string, load: Load, secret: string): Promise<void> {
  const hosts = [await startHost(floor, secret), await startHost(ours, secret)] as const
  try {
    for (const host of hosts) await measure(host.url, load, WARM_UP_SECONDS)
    const rounds: [Figure, Figure][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const order = round % 2 ? [1, 0] : [0, 1]
      const figures: Figure[] = []
      for (const index of order) figures[index] = await measure(hosts[index as 0 | 1].url, load, SECONDS)
      rounds.push(figures as [Figure, Figure])
    }
    const ratios = (figure: keyof Figure) => rounds.map(([constant, own]) => own[figure] / constant[figure])
    for (const [index, name] of [floor, ours].entries()) {
      const rate = median(rounds.map((pair) => pair[index as 0 | 1].rate)).toFixed(0)
      const p99 = median(rounds.map((pair) => pair[index as 0 | 1].p99)).toFixed(2)
      const shown = index === 1 ? `   ${spread(ratios('rate'))}   p99 ${spread(ratios('p99'))}` : ''
      console.log(`  ${`${name}, ${operation}`.padEnd(28)} ${rate.padStart(7)}/s ${p99.padStart(6)} ms${shown}`)
    }
  } finally {
    for (const host of hosts) await host.stop()
  }
}

export async function measure(
  url: string,
  { path, headers, body, connections }: Load,
  duration: number,
): Promise<Figure> {
  const times: number[] = []
  const request = { setupRequest: (next: autocannon.Request) => ({ ...next, body: body() }) }
  const options = { url: url + path, method: 'POST' as const, headers, requests: [request], connections, duration }
  const { requests, non2xx } = await new Promise<autocannon.Result>((resolve, reject) => {
    const load = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
    load.on('response', (_client, _status, _bytes, ms) => times.push(ms))
  })
  if (non2xx > 0) throw new Error(`${non2xx} answers of ${url} were no success`)
  const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
  return { rate: requests.average, count: requests.total, p99 }
}

export async function startHost(name: string, secret: string): Promise<{ url: string; stop(): Promise<void> }> {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file('host.ts'), name], {
    env: { ...process.env, BENCH_SECRET: secret, TSX_TSCONFIG_PATH: file('tsconfig.json') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = `http://127.0.0.1:${await firstLine(child)}`
  return {
    url,
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the host has no output')
  const [line] = await once(child.stdout, 'data')
  return String(line).trim()
}
