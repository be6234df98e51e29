import { describe, expect, it } from 'vitest'
import type { Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { ErrorDetails } from '../../../src/core/answers/report-fault.ts'
import { type AlertsApi, alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { RunEventTarget } from '../../../src/plugins/alerts/run-events.ts'
import { runOf, settle } from '../../hostile/leaks/canary-runs.ts'
import { expectHidden } from '../../hostile/leaks/expect-hidden.ts'
import { openTestApp, type TestApp } from '../../hostile/leaks/test-app.ts'
import { throughTime } from '../../hostile/leaks/through-time.ts'
import { THROWN } from '../../hostile/leaks/thrown.ts'

const BUDGET = { name: 'few', per: 'user', hard: { tokens: 1 } } as const
const HOST_CODE = "error of the host's code"

const budgetsOf = ({ sallyport }: TestApp) => (sallyport as Sallyport & AlertsApi).budgets

/** Records a failed run while its run event function throws. */
async function recordFailing(app: TestApp, kind: string, thrown: (secret: string) => unknown): Promise<void> {
  app.faults.set('run event', thrown(app.canaries.word(kind)))
  await app.post('session_run', { body: runOf(app, 'r1', 's') })
  await throughTime(app, app.sallyport.worker.runDue(), 20)
}

describe('runs', () => {
  it('A budget check shows its caller alone what it was asked', async () => {
    const app = await openTestApp()
    const session = app.canaries.word('session id')
    const { run } = runOf(app, 'r1', session)
    await app.post('session_run', { body: { sessionId: session, run } })
    await settle(app)
    app.collected.keep('call', await budgetsOf(app).check({ userId: run.userId, sessionId: session }))
    expect([...app.collected.events]).toContain('run_event.refused')
  })

  it.each<[string, (app: TestApp) => unknown]>([
    ['no recipient', () => ({})],
    ['an invalid recipient', ({ canaries }) => ({ recipient: `<${canaries.word('recipient as sent')}>` })],
    ['an unknown recipient', ({ canaries }) => ({ recipient: canaries.word('recipient as sent') })],
    ['data that the schema refuses', (app) => ({ recipient: 'u-1', eventData: nested(app) })],
    ['data that is no JSON', (app) => ({ recipient: 'u-1', eventData: { ...nested(app), own: 1n } })],
    ['an unknown channel', ({ canaries }) => ({ recipient: 'u-1', channel: canaries.word('event data') })],
  ])('A run event for %s logs no data of the run', async (_, target) => {
    let app: TestApp | undefined
    const ask = (): RunEventTarget => target(app as TestApp) as RunEventTarget
    const pluginOptions = { alerts: { budgets: [BUDGET], runEvents: { 'run.failed': ask, 'budget.exceeded': ask } } }
    app = await openTestApp({ pluginOptions })
    await app.post('session_run', { body: runOf(app, 'r1', app.canaries.word('session id')) })
    await settle(app)
    expect([...app.collected.events]).toContain('run_event.refused')
  })
})

describe.each<ErrorDetails>(['default', 'full', 'none'])('errorDetails %s', (errorDetails) => {
  const throwEverywhere = THROWN['an error that holds it everywhere'] as (secret: string) => unknown

  it('The log shows an error of a run event function as errorDetails allows', async () => {
    const app = await openTestApp({ rest: { errorDetails } })
    const isShown = errorDetails !== 'none'
    await recordFailing(app, isShown ? HOST_CODE : 'error of a port', throwEverywhere)
    expect(app.collected.seen.has(`${HOST_CODE}: log`)).toBe(isShown)
    expect([...app.collected.events]).toContain('run_event.failed')
  })
})

describe.each(Object.entries(THROWN))('%s', (_, thrown) => {
  it('No answer shows what a run event function throws', async () => {
    await recordFailing(await openTestApp(), HOST_CODE, thrown)
  })

  it('Only the host sees what a budget check throws', async () => {
    const app = await openTestApp()
    app.faults.set('store', thrown(app.canaries.word('error of a port')))
    const keep = (given: unknown): void => app.collected.keep('call', given)
    await throughTime(app, budgetsOf(app).check({ userId: 'u' }), 20).then(keep, keep)
  })
})

const as = (options: unknown): never => options as never

it.each<[string, (secret: string) => unknown]>([
  ['options', (secret) => alerts(as(secret))],
  ['budgets and run events', (secret) => alerts(as({ budgets: secret, runEvents: secret }))],
])('An error at start-up does not show a connection string in place of %s', (_, put) =>
  expectHidden('connection string', put),
)

/** A run event holds its run with its metadata by default, and with it keys that a client wrote. */
function nested({ canaries }: TestApp): object {
  const key = (): string => canaries.word('keys of sent data')
  return { run: { metadata: { [key()]: '\0', [key()]: { [key()]: '\0' } } } }
}
