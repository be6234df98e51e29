import { handleDispatch, handleSessionRun } from 'sallyport'
import { memoryStore } from 'sallyport/storage/memory'
import { rateLine, ratesInTurns, ratios, spread } from './measure.ts'
import { workload } from './workload.ts'

/** Both handlers without HTTP, against parsing and printing the same bodies, the minimum for any handler. */
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
  const rates = await ratesInTurns(tasks, () => {
    store = memoryStore()
  })
  console.log('\nIn process: calls a second, us a call, ratio to parsing and printing the same body')
  let base: readonly number[] = []
  for (const [name, values] of Object.entries(rates)) {
    if (name.startsWith('parse')) base = values
    console.log(`${rateLine(name, values)}   ${spread(ratios(values, base), 3)}`)
  }
}
