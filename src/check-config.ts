import type { WorkerOptions } from './core/dispatch/worker.ts'
import { type ConfigProblem, SallyportError } from './errors.ts'
import type { Channel } from './ports/channel.ts'
import type { CatalogChannel, EventCatalog } from './ports/event-catalog.ts'

/** The part of a host's options that can be wrong. */
interface Checked {
  readonly events: EventCatalog
  readonly channels: Readonly<Record<string, Channel>>
  readonly worker?: WorkerOptions
  readonly expiresInMs?: number
  readonly idempotencyTtlMs?: number
}

/** Numbers that a host may set: whole, from the first to the second. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  concurrency: [1, 1_000],
  leaseMs: [1_000, 3_600_000],
  pollMs: [10, 3_600_000],
  expiresInMs: [1_000, Number.MAX_SAFE_INTEGER],
  idempotencyTtlMs: [1_000, Number.MAX_SAFE_INTEGER],
}

/**
 * Holds the events and the channels against one another, and the numbers against their ranges.
 *
 * @throws {SallyportError} `config_invalid`, with every event that names a channel which is not there or cannot send what
 * the event gives it, every channel whose retry schedule does not ascend, and every number out of its range.
 */
export function checkConfig({ events, channels, worker, expiresInMs, idempotencyTtlMs }: Checked): void {
  const problems = [
    ...Object.entries({ ...worker, expiresInMs, idempotencyTtlMs }).flatMap(([name, value]) =>
      rangeProblem(name, value),
    ),
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

function rangeProblem(name: string, value: number | undefined): ConfigProblem[] {
  const [least, greatest] = RANGES[name] ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= greatest)) return []
  return [{ field: name, detail: `must be a whole number from ${least} to ${greatest}` }]
}
