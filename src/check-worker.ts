import { isRecord, numberFault } from './core/definition-checks.ts'
import type { ChannelLimits, WorkerOptions } from './core/delivery/worker-options.ts'
import type { ConfigProblem } from './errors.ts'

type Range = readonly [least: number, greatest: number]

const HOUR_MS = 3_600_000
const LIMITS = { concurrency: [1, 1_000], perReceiver: [1, 1_000] } as const satisfies Record<string, Range>
const TIMES = {
  leaseMs: [1_000, HOUR_MS],
  sendTimeoutMs: [100, HOUR_MS],
  pollMs: [10, HOUR_MS],
} as const satisfies Record<string, Range>
const RATE = { max: [1, 1_000_000], perMs: [1, HOUR_MS] } as const satisfies Record<string, Range>

/** What is wrong with the options of the worker. */
export function workerProblems(options: WorkerOptions | undefined, channels: readonly string[]): ConfigProblem[] {
  if (options === undefined) return []
  if (!isRecord(options)) return [{ field: 'worker', detail: NO_OBJECT }]
  const { rate, channels: own = {}, ...numbers } = options
  return [
    ...numberProblems('worker', numbers, { ...LIMITS, ...TIMES }),
    ...rateProblems('worker', rate),
    ...(isRecord(own) ? [] : [{ field: 'worker.channels', detail: NO_OBJECT }]),
    ...Object.entries(own ?? {}).flatMap(([name, limits]) => channelProblems(name, limits, channels)),
  ]
}

function channelProblems(name: string, limits: ChannelLimits, channels: readonly string[]): ConfigProblem[] {
  const place = `worker.channels.${name}`
  if (!channels.includes(name)) return [{ field: place, detail: 'is not the name of a channel' }]
  if (!isRecord(limits)) return [{ field: place, detail: NO_OBJECT }]
  const { rate, ...numbers } = limits
  return [...numberProblems(place, numbers, LIMITS), ...rateProblems(place, rate)]
}

function rateProblems(place: string, rate: ChannelLimits['rate']): ConfigProblem[] {
  if (rate === undefined) return []
  if (!isRecord(rate)) return [{ field: `${place}.rate`, detail: 'is { max, perMs }' }]
  const { max, perMs, ...others } = rate
  return numberProblems(`${place}.rate`, { max, perMs, ...others }, RATE, 'required')
}

const NO_OBJECT = 'is not an object of options'

/** What is wrong with numbers that have ranges; a name that has none is not known. */
export function numberProblems(
  place: string,
  numbers: Readonly<Record<string, unknown>>,
  ranges: Readonly<Record<string, Range>>,
  absent: 'allowed' | 'required' = 'allowed',
): ConfigProblem[] {
  return Object.entries(numbers).flatMap(([name, value]) => {
    const field = place === '' ? name : `${place}.${name}`
    const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined
    if (!range) return [{ field, detail: 'is not an option' }]
    const detail = value === undefined && absent === 'allowed' ? undefined : numberFault(value, range)
    return detail === undefined ? [] : [{ field, detail }]
  })
}
