import { afterEach, describe } from 'vitest'
import { anyOf, type SessionTokenKey, sessionTokens } from '../../src/auth/index.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import type { databaseKinds, TestDatabase } from '../storage/databases.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../support/recording-channel.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'

export const KEY: SessionTokenKey = { kid: 't1', key: new Uint8Array(32).fill(2) }
export const AUDIENCE = 'https://app.example'

const text = ({ links: own }: { readonly links?: Readonly<Record<string, string>> }) => `Off: ${own?.unsubscribe ?? ''}`
const events = defineEvents({
  news: { channels: { email: { text } } },
  weekly: { digest: { windowMs: 1_000 }, channels: { email: { text } } },
  'run.failed': { channels: { email: { text: () => 'A run failed' } } },
})

export interface Process<Api extends object = object> {
  readonly sallyport: Sallyport<unknown> & Partial<Api>
  readonly email: RecordingChannel
  /** Plugins that its log calls missing. */
  readonly missing: () => readonly unknown[]
}

export interface Processes<Api extends object = object> {
  readonly clock: FakeClock
  /** Starts a process with its own connections. */
  readonly start: (plugins: readonly Plugin[], more?: Partial<SallyportOptions<unknown>>) => Process<Api>
}

/** Describes, for every kind of database that is there, processes with different plugins on one database. */
export function describeProcesses<Api extends object = object>(
  tests: (database: () => Promise<Processes<Api>>) => void,
  kinds: Awaited<ReturnType<typeof databaseKinds>>,
): void {
  for (const kind of kinds)
    describe.skipIf(kind.absent !== undefined)(`processes with different plugins on one ${kind.name}`, () => {
      const opened: TestDatabase[] = []
      afterEach(async () => {
        for (const database of opened.splice(0)) await database.close()
      })
      tests(async () => {
        const opening = await kind.open()
        opened.push(opening)
        const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
        const auth = anyOf(sessionTokens({ keys: [KEY], audience: AUDIENCE, clock }), testAuth)
        return {
          clock,
          start(plugins, more = {}) {
            const store = sqlStore({ db: opening.connect(), dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
            const email = recordingChannel()
            const logger = recordingLogger()
            const sallyport = createSallyport<unknown>({
              ...{ auth, events, store, clock, logger, channels: { email }, plugins, ...more },
            }) as Process<Api>['sallyport']
            const missing = () =>
              logger.lines.flatMap(({ event, fields }) => (event === 'delivery.plugin_missing' ? [fields?.plugin] : []))
            return { sallyport, email, missing }
          },
        }
      })
    })
}

/** Each process sends what is due, and a minute passes. */
export async function minute(clock: FakeClock, ...processes: readonly Process[]): Promise<void> {
  for (const { sallyport } of processes) await sallyport.worker.runDue()
  clock.advance(60_000)
}
