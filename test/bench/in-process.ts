import { handleDispatch, handleSessionRun } from 'sallyport'
import { memoryStore } from 'sallyport/storage/memory'
import { median, rate, spread } from './measure.ts'
import { workload } from './workload.ts'

const ROUNDS = 7
const MS = 400

/** Both handlers with no HTTP, against parsing and printing the same bodies: what any handler must do besides. */
export async function benchInProcess(): Promise<void> {
  const { headers, auth, withLiquid, withFunctions, channels, event, run } = await workload()
  const eventText = JSON.stringify(event)
  const runText = JSON.stringify(run('run-1'))
  let store = memoryStore()
  let count = 0
  const dispatch = (events: typeof withLiquid | typeof withFunctions) => () =>
    handleDispatch({ headers, body: event }, { auth, events, store, channels })
  const tasks = {
    'parse and print the event': async () => JSON.stringify(JSON.parse(eventText)),
    'dispatch, Liquid template': dispatch(withLiquid),
    'dispatch, typed functions': dispatch(withFunctions),
    'parse and print the run': async () => JSON.stringify(JSON.parse(runText)),
    'session run, new run': () => handleSessionRun({ headers, body: run(`run-${++count}`) }, { auth, store }),
    'session run, repeated': () => handleSessionRun({ headers, body: run('run-0') }, { auth, store }),
  }
  const rates: Record<string, number[]> = {}
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, task] of Object.entries(tasks)) {
      store = memoryStore()
      const perSecond = await rate(task, round < 0 ? MS / 2 : MS)
      if (round >= 0) rates[name] = [...(rates[name] ?? []), perSecond]
    }
  }
  console.log('\nIn process: calls a second, us a call, ratio to parsing and printing the same body')
  let base: number[] = []
  for (const [name, values] of Object.entries(rates)) {
    if (name.startsWith('parse')) base = values
    const ratios = values.map((value, round) => value / (base[round] ?? Number.NaN))
    const perSecond = median(values)
    console.log(
      `  ${name.padEnd(28)} ${perSecond.toFixed(0).padStart(9)}/s ${(1e6 / perSecond).toFixed(1).padStart(7)} us   ${spread(ratios, 3)}`,
    )
  }
}
