import type { RecordedRun } from '../client/recorded-run.ts'
import type { RunCounts } from '../model/run.ts'
import { countsOf, type TokensReported } from './token-counts.ts'
import { knownText, textOf, untypedMembers } from './untyped.ts'

/** What became of a call of a model. What of it is no text and no count is not told. */
export interface ModelCallEnd {
  /** The model gave an answer, or began to. */
  readonly answered?: boolean | undefined
  /** It went wrong, before its answer or in the midst of it: see {@link isFailure}. */
  readonly failed?: boolean | undefined
  /** The model that was asked for, where that was not known before. */
  readonly model?: unknown
  readonly responseModel?: unknown
  readonly finishReason?: unknown
  readonly tokens?: TokensReported | undefined
}

/** Ends a call, once, and adds it to its run. */
export type EndModelCall = (end: ModelCallEnd) => void

/** Starts a call of a model, and tells which. */
export function startModelCall(run: RecordedRun, provider: string, asked?: unknown): EndModelCall {
  const startedAt = performance.now()
  run.update(knownText({ provider: textOf(provider, 64), model: textOf(asked, 200) }))
  return ({ answered, failed, tokens = {}, ...facts }) => {
    const model = textOf(asked ?? facts.model, 200)
    const responseModel = textOf(facts.responseModel, 200)
    const metered = countsOf(tokens)
    const isUnmetered = answered && Object.keys(metered).length === 0
    const counts = { ...metered, ...(answered && { modelCalls: 1 }) }
    addTime(run, 'modelMs', performance.now() - startedAt)
    run.add({ ...counts, ...(isUnmetered && { unmeteredCalls: 1 }), ...(failed && { modelErrors: 1 }) })
    run.update({
      ...knownText({ model, responseModel, finishReason: textOf(facts.finishReason) }),
      ...usageByModel(ledgerOf(run), provider, model ?? responseModel, counts),
    })
  }
}

/** Whether what a call threw, or broke off with, is a failure: an aborted call is none, unless because its time ran out. */
export function isFailure(error: unknown, signal: AbortSignal | null | undefined): boolean {
  const isAborted = signal?.aborted || untypedMembers(error).name === 'AbortError'
  return !isAborted || untypedMembers(signal?.reason).name === 'TimeoutError'
}

/** Adds to the time that the run's calls of models or tools took. Calls at the same time are added up, too. */
export function addTime(run: RecordedRun, which: keyof Ledger['ms'], ms: number): void {
  const { ms: totals } = ledgerOf(run)
  totals[which] += ms
  run.update({ timings: { [which]: Math.round(totals[which]) } })
}

/** What a run is told as totals, and that nobody adds up for it. */
interface Ledger {
  readonly ms: { modelMs: number; toolMs: number }
  readonly byModel: Map<string, { provider: string; model: string; counts: Record<string, number> }>
}

/** By run and not by call, so that all that record into one run have one ledger. */
const ledgers = new WeakMap<RecordedRun, Ledger>()

function ledgerOf(run: RecordedRun): Ledger {
  const ledger = ledgers.get(run) ?? { ms: { modelMs: 0, toolMs: 0 }, byModel: new Map() }
  ledgers.set(run, ledger)
  return ledger
}

/** A run may tell of so many models. */
const MAX_MODELS = 16

/** Each model's share, once there are several: a run has one `model`, by which it would be priced otherwise. */
function usageByModel({ byModel }: Ledger, provider: string, model: string | undefined, counts: RunCounts): object {
  const added = Object.entries(counts)
  if (model === undefined || added.length === 0) return {}
  const key = `${provider} ${model}`
  const share = byModel.get(key) ?? { provider, model, counts: {} }
  byModel.set(key, share)
  for (const [name, count = 0] of added) share.counts[name] = (share.counts[name] ?? 0) + count
  return byModel.size > 1 ? { usageByModel: [...byModel.values()].slice(0, MAX_MODELS) } : {}
}
