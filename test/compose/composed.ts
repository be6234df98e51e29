import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import type { HandlerResult } from '../../src/core/answers/result.ts'
import type { DispatchAnswer } from '../../src/model/dispatch.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { countingIds, type RecordingLogger, recordingLogger, testAuth } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

export interface Composed<Events, Plugins extends readonly Plugin[] = readonly Plugin[]> {
  readonly sallyport: Sallyport<Events, Plugins>
  readonly clock: FakeClock
  readonly logger: RecordingLogger
}

/** Composes a Sallyport as a host does, on a fake clock. Default channels: `a`, `b` and `c`, which send everything. */
export function composed<Events, const Plugins extends readonly Plugin[] = readonly Plugin[]>(
  events: EventCatalog<Events>,
  { clock = fakeClock(), ...rest }: Partial<SallyportOptions<Events, Plugins>> & { readonly clock?: FakeClock } = {},
): Composed<Events, Plugins> {
  const logger = recordingLogger()
  const channels = { a: recordingChannel(), b: recordingChannel(), c: recordingChannel() }
  const store = memoryStore({ clock })
  const options = { auth: testAuth, events, store, channels, clock, logger, ids: countingIds(), ...rest }
  return { sallyport: createSallyport(options), clock, logger }
}

/** The body of an answer, which must be an acceptance. */
export function took(answer: HandlerResult<DispatchAnswer>): DispatchAnswer {
  if (!answer.ok) throw new Error(`was not accepted: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** The state of each delivery, as `channel: status reason`. */
export function ends({ deliveries }: Pick<DispatchAnswer, 'deliveries'>): readonly string[] {
  return deliveries.map(({ channel, status, reason }) => [`${channel}:`, status, ...(reason ? [reason] : [])].join(' '))
}
