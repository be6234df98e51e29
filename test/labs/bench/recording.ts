import { createSallyport, defineEvents, handleSessionRun } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { memoryStore } from 'sallyport/storage/memory'
import { median, rateLine, ratesInTurns, ratios, spread } from './measure.ts'
import { langfuse, langsmith, langsmithCreate, openTelemetry } from './recorders.ts'
import { workload } from './workload.ts'

/** One run recorded in process, against the same run recorded by other SDKs, and the cost of reading a session. */
export async function benchRecording(): Promise<void> {
  await benchRecorders()
  await benchSessions()
}

async function benchRecorders(): Promise<void> {
  const { headers, auth, run } = await workload()
  const minimal = { ...headers, prefer: 'return=minimal' }
  let deps = { auth, store: memoryStore() }
  let count = 0
  const next = () => run(`run-${++count}`)
  const others = {
    'an OpenTelemetry span': openTelemetry(),
    'a Langfuse generation (v5)': langfuse(),
    'a LangSmith run, begun and ended': langsmith(),
    'a LangSmith run in one call': langsmithCreate(),
  }
  const ours = 'a run'
  const tasks = {
    [ours]: () => handleSessionRun({ headers, body: next() }, deps),
    'a run, return=minimal': () => handleSessionRun({ headers: minimal, body: next() }, deps),
    ...Object.fromEntries(Object.entries(others).map(([name, record]) => [name, () => record(next())])),
  }
  const rates = await ratesInTurns(tasks, () => {
    deps = { auth, store: memoryStore() }
  })
  console.log(
    '\nRecording a run: calls a second, us a call; how many times as fast a run is, with and without its answer',
  )
  for (const [name, values] of Object.entries(rates)) {
    const whole = spread(ratios(rates[ours] ?? [], values))
    const lean = spread(ratios(rates['a run, return=minimal'] ?? [], values))
    console.log(`${rateLine(name, values)}   ${whole}   ${lean}`)
  }
}

const SIZES = [100, 1_000, 10_000, 100_000]

async function benchSessions(): Promise<void> {
  const { headers, auth, run } = await workload()
  console.log('\nReading a session: us a read by its number of runs, and the ratio to the smallest')
  const events = defineEvents({ 'run.failed': { channels: { log: { text: () => 'A run failed' } } } })
  const tasks: Record<string, () => unknown> = {}
  for (const size of SIZES) {
    const store = memoryStore()
    const sallyport = createSallyport({ auth, events, store, channels: { log: log() } })
    for (let index = 0; index < size; index++) {
      const { sessionId, run: post } = run(`run-${index}`)
      const startedAt = Number(post.timings?.startedAt)
      const endedAt = startedAt + 500 + ((index * 7919) % 60_000)
      const body = { sessionId, run: { ...post, timings: { ...post.timings, endedAt } } }
      await handleSessionRun({ headers, body }, { auth, store })
    }
    tasks[`${size} runs`] = () => sallyport.sessions.get('session-1')
  }
  const rates = await ratesInTurns(tasks, () => {})
  const base = rates[`${SIZES[0]} runs`] ?? []
  for (const [name, values] of Object.entries(rates)) {
    const micros = (1e6 / median(values)).toFixed(1)
    console.log(`  ${name.padEnd(14)} ${micros.padStart(8)} us   ${spread(ratios(base, values))}`)
  }
}
