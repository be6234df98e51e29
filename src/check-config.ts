import { type ConfigProblem, SallyportError } from './errors.ts'
import type { Channel } from './ports/channel.ts'
import type { CatalogChannel, EventCatalog } from './ports/event-catalog.ts'

/**
 * Holds the events and the channels against one another.
 *
 * @throws {SallyportError} `config_invalid`, with every event that names a channel which is not there or cannot send what
 * the event gives it, and every channel whose retry schedule does not ascend.
 */
export function checkConfig(events: EventCatalog, channels: Readonly<Record<string, Channel>>): void {
  const problems = [
    ...Object.entries(channels).flatMap(([name, channel]) => scheduleProblem(name, channel) ?? []),
    ...events.eventTypes.flatMap((event) =>
      (events.find(event)?.channels ?? []).flatMap((used) => channelProblem(event, used, channels) ?? []),
    ),
  ]
  if (problems.length > 0) throw new SallyportError('config_invalid', 'Sallyport cannot start:', problems)
}

function channelProblem(
  event: string,
  { channel: name, fields }: CatalogChannel,
  channels: Readonly<Record<string, Channel>>,
): ConfigProblem | undefined {
  if (!Object.hasOwn(channels, name)) {
    const configured = Object.keys(channels).join(', ') || 'none'
    return { event, channel: name, detail: `is not configured; the channels are: ${configured}` }
  }
  const detail = channels[name]?.checkFields?.(Object.keys(fields))
  return detail === undefined ? undefined : { event, channel: name, detail }
}

function scheduleProblem(channel: string, { retrySchedule }: Channel): ConfigProblem | undefined {
  const ascends =
    retrySchedule?.every((ms, index) => Number.isFinite(ms) && ms >= (retrySchedule[index - 1] ?? 0)) ?? true
  return ascends ? undefined : { channel, detail: 'retrySchedule must be milliseconds in ascending order' }
}
