import { afterEach, beforeEach, expect, it } from 'vitest'
import { app, OTHER_SESSION, SESSION } from './test-app.ts'

const RUN = '/api/agents/session/run'
const IDS = ['run-1', 'run-2', 'run-3']

let shop: Awaited<ReturnType<typeof app>>
let agent: string
beforeEach(async () => {
  shop = await app()
  agent = await shop.tokenFor(SESSION)
})
afterEach(() => shop.close())

const post = (token: string, sessionId: string, run: object) => shop.post(token, RUN, { sessionId, run })
const shown = (sessionId: string, runId: string) => shop.sallyport.runs.get({ sessionId, runId })

/** The answer without the times of the run, which differ. */
function comparable({ status, text }: { readonly status: number; readonly text: string }, runId: string): unknown {
  const body = JSON.parse(text.replaceAll(runId, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'))
  return { status, body }
}

it('An agent cannot occupy the run ids of another session', async () => {
  for (const runId of IDS)
    expect((await post(agent, SESSION, { runId, status: 'cancelled', attempt: 7 })).status).toBe(201)
  for (const runId of IDS) {
    const answer = await post(shop.secret, OTHER_SESSION, { runId, status: 'completed', attempt: 1, parentRunId: 'p' })
    expect([answer.status, JSON.parse(answer.text).ignored]).toEqual([201, []])
    expect(await shown(OTHER_SESSION, runId)).toMatchObject({ status: 'completed', attempt: 1, revision: 1 })
    expect(await shown(SESSION, runId)).toMatchObject({ status: 'cancelled', attempt: 7, revision: 1 })
  }
  expect((await shop.sallyport.sessions.get(OTHER_SESSION))?.runs.total).toBe(IDS.length)
})

it('An agent cannot discover the run ids of another session', async () => {
  await post(shop.secret, OTHER_SESSION, {
    runId: 'taken',
    status: 'failed',
    attempt: 3,
    parentRunId: 'p',
    counts: { steps: 9 },
  })
  const posts: object[] = [{}, { attempt: 1 }, { parentRunId: 'q', resumedFromRunId: 'o' }, { status: 'completed' }]
  for (const [at, more] of posts.entries()) {
    const session = `${SESSION}-${at}`
    const token = await shop.tokenFor(session)
    const probes = []
    for (const runId of ['taken', 'other']) {
      const alone = await post(token, session, { runId, ...more })
      const child = await post(token, session, { runId: `${runId}-child`, parentRunId: runId })
      probes.push([comparable(alone, runId), comparable(child, runId)])
    }
    expect(probes[0]).toEqual(probes[1])
  }
  expect(await shown(OTHER_SESSION, 'taken')).toMatchObject({ status: 'failed', attempt: 3, revision: 1 })
})
