import { generateAppSecret } from 'sallyport/auth'
import { median } from './measure.ts'
import { measure, startHost } from './over-http.ts'
import { workload } from './workload.ts'

const ROUNDS = 7
const SECONDS = 1.5
const CONNECTIONS = 50
/** How often the handler runs for each request. */
const TIMES = [0, 1, 2, 3]

/**
 * What a run costs in a host, where other work runs before each one: each request is handled 0 to 3 times, without an adapter. The first
 * time follows Node's HTTP work, the others follow the handler itself.
 */
export async function benchInHost(): Promise<void> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const { run } = await workload()
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify(run('run-1'))
  const load = { path: '/api/agents/session/run', headers, body: () => body, connections: CONNECTIONS }
  const hosts = await Promise.all(TIMES.map((times) => startHost(`handled-${times}`, secret)))
  try {
    const micros: number[][] = TIMES.map(() => [])
    for (let round = -1; round < ROUNDS; round++)
      for (const [times, { url }] of hosts.entries()) {
        const before = await processorMicros(url)
        const { count } = await measure(url, load, SECONDS)
        if (round >= 0) micros[times]?.push(((await processorMicros(url)) - before) / count)
      }
    const medians = micros.map(median)
    console.log(
      `\nIn a host, ${CONNECTIONS} at a time: us of processor time a request, by how often the handler runs for it`,
    )
    for (const [times, all] of medians.entries()) {
      const more = times === 0 ? '' : `   ${(all - (medians[times - 1] ?? 0)).toFixed(1).padStart(5)} more`
      console.log(`  ${times} times ${all.toFixed(1).padStart(6)}${more}`)
    }
  } finally {
    for (const host of hosts) await host.stop()
  }
}

async function processorMicros(url: string): Promise<number> {
  const { user, system } = (await (await fetch(url)).json()) as NodeJS.CpuUsage
  return user + system
}
