import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { generateAppSecret } from 'sallyport/auth'
import { median, spread } from './measure.ts'
import { workload } from './workload.ts'

const ROUNDS = 7
const WARM_UP_SECONDS = 2
const SECONDS = 2
const PATHS = { run: '/api/agents/session/run', dispatch: '/api/outbound/dispatch' }

/** What is sent, to any host. */
interface Load {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
}

interface Figure {
  readonly rate: number
  readonly p99: number
}

/**
 * Both endpoints in a host, against the same host answering the same bytes, a constant, after parsing. Both hosts run, each in a process of
 * its own, and are loaded in turn, so that what slows the machine slows both.
 */
export async function benchOverHttp(): Promise<void> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const { event, run } = await workload()
  const bodies = { run: JSON.stringify(run('run-1')), dispatch: JSON.stringify(event) }
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  for (const connections of [1, 50]) {
    console.log(`\nOver HTTP, ${connections} at a time: requests a second, p99 in ms, ratio to the constant`)
    for (const framework of ['express', 'koa', 'node', 'hono']) {
      for (const operation of ['run'] as const) {
        const load = { path: PATHS[operation], body: bodies[operation], headers, connections }
        await compare(`${framework}-constant`, `${framework}-sallyport`, operation, load, secret)
      }
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
    const ratios = rounds.map(([constant, sallyport]) => sallyport.rate / constant.rate)
    for (const [index, name] of [floor, ours].entries()) {
      const rate = median(rounds.map((pair) => pair[index as 0 | 1].rate)).toFixed(0)
      const p99 = median(rounds.map((pair) => pair[index as 0 | 1].p99)).toFixed(1)
      const shown = index === 1 ? `   ${spread(ratios)}` : ''
      console.log(`  ${`${name}, ${operation}`.padEnd(28)} ${rate.padStart(7)}/s ${p99.padStart(6)} ms${shown}`)
    }
  } finally {
    for (const host of hosts) await host.stop()
  }
}

async function measure(url: string, { path, headers, body, connections }: Load, duration: number): Promise<Figure> {
  const { requests, latency, non2xx } = await autocannon({
    url: url + path,
    method: 'POST',
    headers,
    body,
    connections,
    duration,
  })
  if (non2xx > 0) throw new Error(`${non2xx} answers of ${url} were no success`)
  return { rate: requests.average, p99: latency.p99 }
}

async function startHost(name: string, secret: string): Promise<{ url: string; stop(): Promise<void> }> {
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
