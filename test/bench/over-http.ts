import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { generateAppSecret } from 'sallyport/auth'
import { median, spread } from './measure.ts'
import { workload } from './workload.ts'

const ROUNDS = 5
const SECONDS = 3

/** Both endpoints in a host, against the same host answering a constant after parsing; each host in its own process. */
export async function benchOverHttp(): Promise<void> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const { event, run } = await workload()
  const bodies = { run: JSON.stringify(run('run-1')), dispatch: JSON.stringify(event) }
  const paths = { run: '/api/agents/session/run', dispatch: '/api/outbound/dispatch' }
  for (const connections of [1, 50]) {
    console.log(
      `\nOver HTTP, ${connections} connection${connections > 1 ? 's' : ''}: requests a second, p99 ms, ratio to the constant`,
    )
    for (const host of ['express', 'node'] as const) {
      for (const operation of ['run', 'dispatch'] as const) {
        const results: Record<string, { rates: number[]; p99: number[] }> = {}
        const ratios: number[] = []
        for (let round = 0; round < ROUNDS; round++) {
          const pair: number[] = []
          for (const kind of round % 2 ? ['sallyport', 'constant'] : ['constant', 'sallyport']) {
            const name = `${host}-${kind}`
            const { rate, p99 } = await measure(name, secret, paths[operation], bodies[operation], connections)
            results[name] ??= { rates: [], p99: [] }
            const result = results[name]
            result.rates.push(rate)
            result.p99.push(p99)
            pair[kind === 'constant' ? 0 : 1] = rate
          }
          ratios.push((pair[1] ?? Number.NaN) / (pair[0] ?? Number.NaN))
        }
        for (const [name, { rates, p99 }] of Object.entries(results)) {
          const shown = name.endsWith('sallyport') ? `   ${spread(ratios)}` : ''
          console.log(
            `  ${`${name}, ${operation}`.padEnd(28)} ${median(rates).toFixed(0).padStart(7)}/s ${median(p99).toFixed(1).padStart(6)} ms${shown}`,
          )
        }
      }
    }
  }
}

async function measure(host: string, secret: string, path: string, body: string, connections: number) {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('host.ts', import.meta.url)), host], {
    env: { ...process.env, BENCH_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = `http://127.0.0.1:${await firstLine(child)}${path}`
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const options = { url, method: 'POST' as const, headers, body, connections }
    await autocannon({ ...options, duration: 1 })
    const { requests, latency, non2xx } = await autocannon({ ...options, duration: SECONDS })
    if (non2xx > 0) throw new Error(`${host}: ${non2xx} answers were no success`)
    return { rate: requests.average, p99: latency.p99 }
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the host has no output')
  const [line] = await once(child.stdout, 'data')
  return String(line).trim()
}
