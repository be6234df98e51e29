import type { RecordedRun } from '../client/recorded-run.ts'
import type { ReadFault } from '../model/read-fault.ts'
import type { RunCounts } from '../model/run.ts'
import { STANDARD_TIER } from '../model/service-tier.ts'
import { type ReadUsage, readUsage, UNKNOWN_USAGE } from '../usage/read-usage.ts'
import { knownText, textOf, untypedMembers } from './untyped.ts'

/** The end of a model call. Values of the wrong type are not recorded. */
export interface ModelCallEnd {
  /** The model answered, or began to. */
  readonly answered?: boolean | undefined
  /** The call failed, before its answer or during it: see {@link isFailure}. */
  readonly failed?: boolean | undefined
  /** The requested model, if it was unknown at the start. */
  readonly model?: unknown
  readonly responseModel?: unknown
  readonly finishReason?: unknown
  /** The usage object of the provider. */
  readonly usage?: unknown
  readonly serviceTier?: string | undefined
}

/** Ends a call and adds it to its run. Call it once. */
export type EndModelCall = (end: ModelCallEnd) => void

export function startModelCall(run: RecordedRun, provider: string, asked?: unknown): EndModelCall {
  const startedAt = performance.now()
  run.update(knownText({ provider: textOf(provider, 64), model: textOf(asked, 200) }))
  return ({ answered, failed, usage, ...facts }) => {
    const { counts: metered, serviceTier: usedTier } = meter(run, usage)
    const serviceTier = textOf(facts.serviceTier ?? usedTier, 64)
    const model = textOf(asked ?? facts.model, 200)
    const responseModel = textOf(facts.responseModel, 200)
    const isUnmetered = answered && Object.keys(metered).length === 0
    const counts = { ...metered, ...(answered && { modelCalls: 1 }) }
    addTime(run, 'modelMs', performance.now() - startedAt)
    run.add({ ...counts, ...(isUnmetered && { unmeteredCalls: 1 }), ...(failed && { modelErrors: 1 }) })
    run.update({
      ...knownText({ model, responseModel, finishReason: textOf(facts.finishReason), serviceTier }),
      ...usageByModel(totalsOf(run), { provider, model: model ?? responseModel, serviceTier }, counts),
    })
  }
}

/** An abort is no failure, unless its reason is a time-out. */
export function isFailure(error: unknown, signal: AbortSignal | null | undefined): boolean {
  const isAborted = signal?.aborted || untypedMembers(error).name === 'AbortError'
  return !isAborted || untypedMembers(signal?.reason).name === 'TimeoutError'
}

/** Concurrent calls are summed. */
export function addTime(run: RecordedRun, which: keyof Totals['ms'], ms: number): void {
  const { ms: spent } = totalsOf(run)
  spent[which] += ms
  run.update({ timings: { [which]: Math.round(spent[which]) } })
}

/** Totals of a run that the recorder does not sum. */
interface Totals {
  readonly ms: { modelMs: number; toolMs: number }
  /** By provider, model and service tier. */
  readonly byModel: Map<string, Share>
}

interface Share {
  readonly provider: string
  readonly model: string
  readonly serviceTier?: string | undefined
  readonly counts: Record<string, number>
}

/** By run: all integrations of one run share its totals. */
const totalsByRun = new WeakMap<RecordedRun, Totals>()

function totalsOf(run: RecordedRun): Totals {
  const totals = totalsByRun.get(run) ?? { ms: { modelMs: 0, toolMs: 0 }, byModel: new Map() }
  totalsByRun.set(run, totals)
  return totals
}

const MAX_MODELS = 16

/** Usage of each model and service tier, for several: the run would otherwise be priced by its one `model` and tier. */
function usageByModel(
  { byModel }: Totals,
  { provider, model, serviceTier }: Pick<Share, 'provider' | 'serviceTier'> & { readonly model: string | undefined },
  counts: RunCounts,
): object {
  const added = Object.entries(counts)
  if (model === undefined || added.length === 0) return {}
  const key = `${provider} ${model} ${serviceTier}`
  const share = byModel.get(key) ?? { provider, model, serviceTier, counts: {} }
  byModel.set(key, share)
  for (const [name, count = 0] of added) share.counts[name] = (share.counts[name] ?? 0) + count
  if (byModel.size < 2) return {}
  const shares = [...byModel.values()].slice(0, MAX_MODELS)
  const hasTiers = shares.some((one) => one.serviceTier !== undefined)
  // Without a tier of its own, a share would have that of the run.
  return {
    usageByModel: shares.map((one) =>
      knownText({ ...one, serviceTier: one.serviceTier ?? (hasTiers ? STANDARD_TIER : undefined) }),
    ),
  }
}

/** Counts that are 0 in most calls, and then not recorded. The total is that of the others. */
const RARE: readonly string[] = [
  ...['cacheWrite1hTokens', 'audioInputTokens', 'imageInputTokens', 'audioOutputTokens', 'imageOutputTokens'],
  ...['billedSearches', 'billedSeconds', 'billedCharacters'],
]

/**
 * Reads the usage object of one call. If its counts may be wrong, the run gets the object, so that the server sees it too. An object with
 * an invalid count has no counts.
 */
export function meter(run: RecordedRun, usage: unknown): Pick<ReadUsage, 'counts' | 'serviceTier'> {
  const faults: ReadFault[] = []
  const { counts, serviceTier, doubts } = readUsage(usage, faults) ?? UNKNOWN_USAGE
  if (doubts.length > 0 && faults.length === 0) run.update({ usage: usage as object })
  const recorded = Object.entries(faults.length > 0 ? {} : counts).filter(
    ([name, count]) => name !== 'totalTokens' && (count > 0 || !RARE.includes(name)),
  )
  return { counts: Object.fromEntries(recorded), ...(serviceTier !== undefined && { serviceTier }) }
}
