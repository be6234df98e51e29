import fc from 'fast-check'
import { createSallyport, type Run, type Sallyport } from 'sallyport'
import { type Client, createClient, createRunRecorder, type RecordedRun } from 'sallyport/client'
import { toFetch } from 'sallyport/fetch'
import { memoryStore } from 'sallyport/storage/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { testAuth } from '../support/deps.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { type PendingEvent, telling } from './reports.ts'
import { events } from './servers.ts'

const START = Date.parse('2026-11-21T08:00:00Z')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** What happens after a telling: nothing, or posts are sent and get there, or do not, or only their answer does not get back. */
type SendLoop = 'none' | 'sent' | 'lost' | 'answer lost'

interface Step {
  readonly run: number
  /** The run is started once more first, under the same id, whether or not it has ended. */
  readonly anew: boolean
  readonly telling: PendingEvent
  readonly sending: SendLoop
  /** It takes until something else was told. */
  readonly isSlow: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  run: fc.nat(2),
  anew: fc.nat(9).map((chance) => chance === 0),
  telling,
  sending: fc.constantFrom<SendLoop>('none', 'none', 'none', 'sent', 'lost', 'answer lost'),
  isSlow: fc.boolean(),
})

/** A host, and a client whose calls go as they are told to. */
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

/** Tells it all, and gives the runs that the host has of it then. */
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
  for (const [index, { run, anew, telling, sending, isSlow }] of steps.entries()) {
    vi.setSystemTime(START + 1000 * (index + 1))
    if (anew) runs[run] = start(run)
    const reported = runs[run]
    if (reported) telling(reported, index + 1)
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

/** Without what tells when posts came, and how many. */
function shown({
  createdAt,
  updatedAt,
  lastSeenAt,
  revision,
  ...run
}: Run): Omit<Run, 'createdAt' | 'updatedAt' | 'lastSeenAt' | 'revision'> {
  return run
}

describe('posts that are joined', () => {
  test('lose nothing: the runs are what they would be, had each post been sent by itself', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const each = await runsAfter(steps.map((one): Step => ({ ...one, sending: 'sent', isSlow: false })))
        expect(await runsAfter(steps)).toEqual(each)
      }),
      { numRuns: 300 },
    )
  })
})
