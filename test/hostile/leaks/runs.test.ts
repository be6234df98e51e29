import { describe, expect, it } from 'vitest'
import { otelRunExporter } from '../../../src/otel/index.ts'
import { telemetry } from '../../otel/telemetry.ts'
import { runOf, settle } from './canary-runs.ts'
import { openTestApp } from './test-app.ts'

describe('runs', () => {
  it('Run data reaches its sender and the host, telemetry gets ids and error types, and the log gets nothing', async () => {
    const sdk = telemetry()
    const exporters = [otelRunExporter(sdk.providers)]
    const app = await openTestApp({ rest: { exporters, staleAfterMs: 60_000 } })
    const { canaries, post, collected, sallyport } = app
    const { runs, sessions } = sallyport
    const session = canaries.word('session id')
    const first = runOf(app, 'r1', session)
    expect((await post('session_run', { body: first })).status).toBe(201)
    await post('session_run', { body: { ...first, run: { ...first.run, status: 'completed' } } })
    await post('session_run', { body: first, headers: { prefer: 'return=minimal' } })
    const open = { ...runOf(app, 'r2', session).run, status: 'running' }
    const bad = { ...open, runId: 'r3', counts: { steps: -1 }, [canaries.word('keys of sent data')]: 1 }
    const batch = [open, bad, { ...open, runId: 'r4' }].map((run) => ({ sessionId: session, run }))
    expect((await post('session_run_batch', { body: { runs: batch } })).status).toBe(200)
    const { sessionId, run: fifth } = runOf(app, 'r5', app.sessionId)
    const own = { sessionId, run: { ...fifth, attempt: 1 } }
    expect((await post('session_run', { token: app.sessionToken, body: own })).status).toBe(201)
    const stolen = await post('session_run', { token: app.sessionToken, body: { ...own, sessionId: session } })
    expect(stolen.status).toBe(403)
    const changed = await post('session_run', {
      token: app.sessionToken,
      body: { ...own, run: { ...own.run, attempt: 9 } },
    })
    expect(changed.body.code).toBe('run_identity_conflict')
    await settle(app)

    expect(await runs.get({ sessionId: session, runId: 'r2' })).toMatchObject({ status: 'expired' })
    collected.keep('call', [await runs.list(), await sessions.get(session)])
    collected.keep('call', [await runs.erase({ userId: first.run.userId }), await runs.prune({ olderThan: 1 })])
    const spans = sdk.spans()
    expect(spans.map(({ attributes }) => attributes['agent.run.id']).sort()).toEqual(['r1', 'r2', 'r4', 'r5'])
    for (const { name, attributes, status, events, links, resource } of spans)
      collected.keep('span', { name, attributes, status, events, links, resource: resource.attributes })
    collected.keep('metric', await sdk.metrics())
    expect([...collected.seen]).toEqual(
      expect.arrayContaining([
        'session id: span',
        'run: error type: span',
        'run: error type: metric',
        'run: content: answer',
        'run: content: call',
      ]),
    )
  })

  it('With errorMessages, the exporter puts the message into the status alone', async () => {
    const sdk = telemetry()
    const app = await openTestApp({ rest: { exporters: [otelRunExporter({ ...sdk.providers, errorMessages: true })] } })
    const body = runOf(app, 'r1', 's')
    await app.post('session_run', { body })
    const { status, attributes, events } = sdk.span()
    expect(status.message).toBe(body.run.error.message)
    app.collected.keep('span', { attributes, events })
  })
})
