import { createSallyport, type Run, type Sallyport } from 'sallyport'
import { type Client, createClient, createRunRecorder, type RecordedRun } from 'sallyport/client'
import { toFetch } from 'sallyport/fetch'
import { memoryStore } from 'sallyport/storage/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { testAuth } from '../support/deps.ts'
import { fc, runs, TIMEOUT_MS } from '../support/properties.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { type PendingEvent, pendingEvent } from './reports.ts'
import { events } from './servers.ts'

const START = Date.parse('2026-11-21T08:00:00Z')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Result of a flush: no flush, posts and answers arrive, posts are lost, or only their answers are lost. */
type SendLoop = 'none' | 'sent' | 'lost' | 'answer lost'

interface Step {
  readonly run: number
  /** Starts the run again first under the same id, whether or not it has ended. */
  readonly anew: boolean
  readonly pendingEvent: PendingEvent
  readonly sending: SendLoop
  /** Holds the answer until the next step. */
  readonly isSlow: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  run: fc.nat(2),
  anew: fc.nat(9).map((chance) => chance === 0),
  pendingEvent,
  sending: fc.constantFrom<SendLoop>('none', 'none', 'none', 'sent', 'lost', 'answer lost'),
  isSlow: fc.boolean(),
})

/** A host, and a client whose calls follow `line`. */
function connect(): {
  sallyport: Pick<Sallyport, 'runs'>
  client: Client
  line: { sending: SendLoop; delay: Promise<void>; onCall: () => void }
} {
  const line = { sending: 'sent' as SendLoop, delay: Promise.resolve(), onCall: () => {} }
  const channels = { email: recordingChannel() }
  const sallyport = createSallyport({ auth: testAuth, events, store: memoryStore(), channels })
  const handle = toFetch(sallyport)
  const client = createClient({
    baseUrl: 'http://host.example',
    token: 'app',
    retries: 0,
    async fetch(url, init) {
      const { sending, delay } = line
      line.onCall()
      await delay
      if (sending === 'lost') throw new TypeError('fetch failed')
      const answer = await handle(new Request(url, init))
      if (sending === 'answer lost') throw new TypeError('terminated')
      return answer
    },
  })
  return { sallyport, client, line }
}

/** Runs all steps, and returns the recorded runs. */
async function runsAfter(steps: readonly Step[]): Promise<unknown[]> {
  vi.setSystemTime(START)
  const { sallyport, client, line } = connect()
  const dropped: unknown[] = []
  const recorder = createRunRecorder({ client, heartbeatMs: 0, onDropped: (...drop) => dropped.push(drop) })
  const start = (run: number): RecordedRun =>
    recorder.start({ sessionId: 's1', runId: `r${run}`, tags: ['t'], metadata: { m: run } })
  const runs = [0, 1, 2].map(start)
  let arrive = () => {}
  let flushed = Promise.resolve()
  for (const [index, { run, anew, pendingEvent, sending, isSlow }] of steps.entries()) {
    vi.setSystemTime(START + 1000 * (index + 1))
    if (anew) runs[run] = start(run)
    const reported = runs[run]
    if (reported) pendingEvent(reported, index + 1)
    arrive()
    await flushed
    if (sending === 'none') continue
    line.sending = sending
    const called = new Promise<void>((resolve) => {
      line.onCall = resolve
    })
    if (isSlow) {
      line.delay = new Promise((resolve) => {
        arrive = resolve
      })
    }
    flushed = recorder.flush()
    await (isSlow ? Promise.race([flushed, called]) : flushed)
    Object.assign(line, { sending: 'lost', delay: Promise.resolve() })
  }
  arrive()
  await flushed
  line.sending = 'sent'
  await recorder.flush()
  expect(dropped).toEqual([])
  const recorded = (await sallyport.runs.list({})).items.map(shown)
  await recorder.close()
  return recorded.sort((a, b) => a.runId.localeCompare(b.runId))
}

/** The run without the fields that depend on the number and time of posts. */
function shown({
  createdAt,
  updatedAt,
  lastSeenAt,
  revision,
  ...run
}: Run): Omit<Run, 'createdAt' | 'updatedAt' | 'lastSeenAt' | 'revision'> {
  return run
}

describe('joined posts', { timeout: TIMEOUT_MS }, () => {
  test('Joined posts give the same runs as posts sent one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const each = await runsAfter(steps.map((one): Step => ({ ...one, sending: 'sent', isSlow: false })))
        expect(await runsAfter(steps)).toEqual(each)
      }),
      { numRuns: runs(300) },
    )
  })
})
