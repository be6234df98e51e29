import type { AuthVerifier } from '../../../src/auth/index.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { type RecordingLogger, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { NOW } from './callers.ts'

const events = defineEvents({
  'order.shipped': { channels: { email: { subject: () => 'On its way' }, sms: { text: () => 'On its way' } } },
  'order.paid': { channels: { email: { subject: () => 'Paid' } } },
})

type Parts = 'auth' | 'events' | 'store' | 'channels' | 'recipients' | 'sessions' | 'logger' | 'clock'

/** Options of a Sallyport, and a record of its writes. */
export interface TestApp {
  readonly options: Pick<SallyportOptions<unknown>, Parts>
  readonly logger: RecordingLogger
  /** Takes the writes since the last call: a dispatch or a run, and its tenant. */
  written(): readonly string[]
}

/**
 * An app that requires known sessions: `s1` and `s2` exist, and `theirs` of another tenant. The directory knows every
 * id.
 */
export async function app(auth: AuthVerifier): Promise<TestApp> {
  const clock = fakeClock(NOW * 1_000)
  const store = memoryStore({ clock })
  await Promise.all([
    store.openSession('default', 's1'),
    store.openSession('default', 's2'),
    store.openSession('other', 'theirs'),
  ])
  const writes: string[] = []
  const watched: typeof store = {
    ...store,
    async accept(acceptance) {
      writes.push(`dispatch of ${acceptance.dispatch.tenant}`)
      return store.accept(acceptance)
    },
    async mergeRun(key, decide) {
      const merged = await store.mergeRun(key, decide)
      if (merged.run !== undefined) writes.push(`run of ${merged.run.tenant}`)
      return merged
    },
  }
  const logger = recordingLogger()
  const options: TestApp['options'] = {
    auth,
    events: events as SallyportOptions<unknown>['events'],
    store: watched,
    channels: { email: recordingChannel(), sms: recordingChannel() },
    recipients: { find: async (id) => ({ id, email: 'somebody@example.com' }) },
    sessions: 'must-exist',
    logger,
    clock,
  }
  return { options, logger, written: () => writes.splice(0) }
}
