import assert from 'node:assert/strict'
import { type EventCatalog, handleDispatch } from 'sallyport'
import { memoryStore } from 'sallyport/storage/memory'
import { htmlOf, order, subjectOf } from './mail.ts'
import { rateLine, ratesInTurns, ratios, spread } from './measure.ts'
import { type Execute, novuWorkflows } from './novu-workflow.ts'
import { type Workload, workload } from './workload.ts'

/**
 * One dispatch against `@novu/framework` executing the same workflow, both in process and without HTTP. Novu checks no
 * credential and stores nothing; a dispatch does both.
 */
export async function benchNovu(): Promise<void> {
  const parts = await workload()
  const { headers, auth, withLiquid, withFunctions, channels, event: body } = parts
  const novu = await novuWorkflows(true)
  const unsanitised = await novuWorkflows(false)
  await Promise.all([...Object.values(novu), ...Object.values(unsanitised)].map(checkExecution))
  await Promise.all([withLiquid, withFunctions].map((events) => checkDispatch(events, parts)))

  let store = memoryStore()
  const dispatch = (events: EventCatalog) => () => handleDispatch({ headers, body }, { auth, events, store, channels })
  const rates = await ratesInTurns(
    {
      'Novu, Liquid': novu.liquid,
      'Novu, Liquid, not sanitised': unsanitised.liquid,
      'Novu, functions': novu.functions,
      'Novu, functions, not sanitised': unsanitised.functions,
      'dispatch, Liquid': dispatch(withLiquid),
      'dispatch, functions': dispatch(withFunctions),
      'the functions alone': () => ({ subject: subjectOf(order), html: htmlOf(order) }),
    },
    () => {
      store = memoryStore()
    },
  )

  console.log('\nAgainst @novu/framework in process: calls a second, us a call')
  for (const [name, values] of Object.entries(rates)) console.log(rateLine(name, values))
  console.log('\nHow many times the throughput of Novu')
  for (const ours of ['dispatch, Liquid', 'dispatch, functions'] as const) {
    for (const [theirs, values] of Object.entries(rates)) {
      if (!theirs.startsWith('Novu')) continue
      console.log(`  ${ours.padEnd(20)} : ${theirs.padEnd(32)} ${spread(ratios(rates[ours], values), 1)}`)
    }
  }
  const rendering = rates['the functions alone'].map((perSecond) => 1e6 / perSecond)
  const others = rates['dispatch, functions'].map((perSecond, round) => 1e6 / perSecond - (rendering[round] ?? 0))
  console.log(`\nA dispatch without its template functions: ${spread(others, 1)} us`)
}

async function checkExecution(execute: Execute): Promise<void> {
  assert.deepEqual((await execute()).outputs, { subject: subjectOf(order), body: htmlOf(order) })
}

async function checkDispatch(events: EventCatalog, { headers, auth, channels, event: body }: Workload): Promise<void> {
  const request = { headers, body, query: { dryRun: 'true' } }
  const { body: preview } = await handleDispatch(request, { auth, events, store: memoryStore(), channels })
  assert.ok('dryRun' in preview)
  assert.deepEqual(preview.deliveries[0]?.content, { subject: subjectOf(order), html: htmlOf(order) })
}
