import { beforeEach, describe, expect, it } from 'vitest'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Principal } from '../../../src/model/principal.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { throttle } from '../../../src/policies/throttle.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { type RecordingLogger, recordingLogger } from '../../support/deps.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const APP: Principal = { id: 'app', tenant: 'default' }
const tokenOf = (sessionId: string, given: Partial<Principal> = {}): Principal => ({
  ...{ id: `token-${sessionId}`, tenant: 'default', sessionId },
  ...given,
})

/** Session tokens whose posts cause run events, against people who need to see them. */
describe('run events that session tokens cause', () => {
  let shop: Pick<Sallyport, 'endpoints' | 'dispatches'>
  let store: ReturnType<typeof memoryStore>
  let logger: RecordingLogger

  beforeEach(() => {
    logger = recordingLogger()
    store = memoryStore()
    shop = createSallyport({
      auth: { verify: async () => APP },
      events: defineEvents({
        'run.failed': { channels: { ops: { text: () => 'A run failed' } } },
        'run.completed': { channels: { ops: { text: () => 'A run completed' } } },
      }),
      store,
      channels: { ops: recordingChannel() },
      logger,
      policy: throttle({ max: 3, windowMs: 3_600_000 }),
      plugins: [
        alerts({
          runEvents: {
            'run.failed': () => ({ recipient: 'ops@example.com' }),
            'run.completed': () => ({ recipient: 'ops@example.com' }),
          },
        }),
      ],
    })
  })

  /** Posts failed runs in batches of 100, and waits for their events. */
  async function fail(by: Principal, count: number, prefix = by.id, sessionId = by.sessionId ?? 's1'): Promise<void> {
    const runs = Array.from({ length: count }, (_, at) => ({
      sessionId,
      run: { runId: `${prefix}-${at}`, status: 'failed' },
    }))
    for (let from = 0; from < count; from += 100) {
      const body = { runs: runs.slice(from, from + 100) }
      const answer = await handled(shop.endpoints, 'session_run_batch', by, { headers: {}, body })
      expect(answer.status).toBe(200)
    }
    await shop.endpoints.deliver()
  }

  async function eventsOf(sessionId: string): Promise<number> {
    return (await shop.dispatches.list({ sessionId, limit: 100 })).items.length
  }

  it('A token causes at most 20 run events by default, whatever its batches hold', async () => {
    await fail(tokenOf('s1'), 1_000)
    expect(await eventsOf('s1')).toBe(20)
    const refused = logger.lines.filter(({ event }) => event === 'run_event.refused')
    expect(refused).toHaveLength(980)
    expect(refused[0]?.fields).toMatchObject({ eventType: 'run.failed', code: 'grant_spent' })
  })

  it('A token causes at most as many run events as it grants, counted for each session', async () => {
    await fail(tokenOf('s1', { runEvents: 3 }), 10)
    await fail(tokenOf('s1', { runEvents: 3 }), 10, 'more')
    expect(await eventsOf('s1')).toBe(3)
    await fail(tokenOf('s2', { id: 'token-s1', runEvents: 3 }), 10)
    expect(await eventsOf('s2')).toBe(3)
    await fail(tokenOf('s3', { runEvents: 0 }), 10)
    expect(await eventsOf('s3')).toBe(0)
  })

  it('The run events of an exchanged token are charged to all its parents', async () => {
    const parents = [{ id: 'middle', runEvents: 4 }, { id: 'top' }]
    await fail(tokenOf('s1', { id: 'low', runEvents: 3, parents }), 10)
    expect(await eventsOf('s1')).toBe(3)
    await fail(tokenOf('s1', { id: 'sibling', runEvents: 3, parents }), 10)
    expect(await eventsOf('s1')).toBe(4)
    await fail(tokenOf('s1', { id: 'top' }), 100)
    expect(await eventsOf('s1')).toBe(20)
  })

  it('The limits of an end are kept until its event is published, and not longer', async () => {
    await fail(tokenOf('s1'), 1, 'r')
    const stored = await store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r-0' })
    expect(stored?.derived).toEqual({ ended: ['agent:failed'], pending: [] })
  })

  it('A repeated post costs no run event', async () => {
    const token = tokenOf('s1', { runEvents: 2 })
    for (let time = 0; time < 5; time++) await fail(token, 1)
    await fail(token, 3, 'other')
    expect(await eventsOf('s1')).toBe(2)
  })

  it("An application's end has its event when the agent has used up its run events on the same run", async () => {
    const post = (by: Principal, status: string) =>
      handled(shop.endpoints, 'session_run', by, {
        headers: {},
        body: { sessionId: 's1', run: { runId: 'r', status } },
      })
    await post(tokenOf('s1', { runEvents: 0 }), 'failed')
    await post(APP, 'failed')
    await shop.endpoints.deliver()
    expect(await eventsOf('s1')).toBe(1)
  })

  it('Tokens cannot use up a throttle for the run events of applications and of other sessions', async () => {
    await fail(tokenOf('s1'), 100)
    await fail(APP, 1, 'theirs', 's1')
    await fail(tokenOf('s2'), 1)
    await fail(APP, 1, 'other', 's3')
    const statuses = async (sessionId: string): Promise<readonly unknown[]> => {
      const { items } = await shop.dispatches.list({ sessionId, limit: 100 })
      return items.flatMap(({ deliveries }) => deliveries.map(({ status }) => status))
    }
    const ofFirst = await statuses('s1')
    expect(ofFirst.filter((status) => status === 'sent')).toHaveLength(4)
    expect(ofFirst.filter((status) => status === 'skipped')).toHaveLength(17)
    expect([await statuses('s2'), await statuses('s3')]).toEqual([['sent'], ['sent']])
  })
})
