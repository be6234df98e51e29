import {
  addModel,
  dictionary,
  EMPTY,
  mapModels,
  named,
  openModel,
  type ProviderTotals,
  type SourceTotals,
  type Totals,
} from '../../../model/totals.ts'
import { KNOWN_COUNTS } from '../../../usage/counts.ts'

/**
 * Maximum number of names, which callers choose, in a sum. A full sum drops further names, except models, which go to
 * {@link OTHERS}. Names are never removed, so that amounts are subtracted where they were added. Known counts are exempt.
 */
export interface CardinalityLimits {
  readonly models: number
  readonly counters: number
  readonly modelCounters: number
  readonly users: number
}

export const SESSION_LIMITS: CardinalityLimits = { models: 200, counters: 256, modelCounters: 16, users: 0 }

/** Smaller: totals of descendants are added to every ancestor when a run gets its parent. */
export const DESCENDANT_LIMITS: CardinalityLimits = { models: 32, counters: 64, modelCounters: 16, users: 256 }

/** Model, of provider `''`, for the models beyond the limit. */
const OTHERS = '(other)'

type Models = Totals['models']

/** Caps the cardinality of an addition to the free space of `sum`, each source by itself; usually returns `add` itself. */
export function capCardinality(sum: Totals | undefined, add: Totals, limits: CardinalityLimits): Totals {
  const capped = capSource(sum, add, limits)
  if (add.agent === undefined) return capped
  const agent = capSource(sum?.agent, add.agent, limits)
  return capped === add && agent === add.agent ? add : { ...capped, agent }
}

function capSource<T extends SourceTotals>(sum: SourceTotals | undefined, add: T, limits: CardinalityLimits): T {
  const counts = capNames(sum?.counts ?? EMPTY, add.counts, limits.counters, KNOWN_COUNTS)
  const known: Models = sum?.models ?? EMPTY
  const models = mapModels(capModels(known, add.models, limits.models), (share, provider, model) => {
    const before = named(named(known, provider) ?? EMPTY, model)?.counts ?? EMPTY
    const capped = capNames(before, share.counts, limits.modelCounters, KNOWN_COUNTS)
    return capped === share.counts ? share : { ...share, counts: capped }
  })
  const users = capNames(sum?.users ?? EMPTY, add.users, limits.users, NO_NAMES)
  if (counts === add.counts && models === add.models && users === add.users) return add
  return { ...add, counts, models, users }
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Keeps the names of `add` that `sum` has or has space for. Names in `exempt` need no space. */
function capNames<T>(
  sum: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, T>>,
  max: number,
  exempt: ReadonlySet<string>,
): typeof add {
  let fresh = 0
  for (const name in add) if (!Object.hasOwn(sum, name) && !exempt.has(name)) fresh++
  if (fresh === 0) return add
  let room = max
  for (const name in sum) if (!exempt.has(name)) room--
  if (fresh <= room) return add
  const kept = dictionary<T>()
  for (const name in add) if (Object.hasOwn(sum, name) || exempt.has(name) || room-- > 0) kept[name] = add[name] as T
  return kept
}

function capModels(sum: Models, add: Models, max: number): Models {
  let fresh = 0
  for (const provider in add) for (const model in add[provider]) if (!hasModel(sum, provider, model)) fresh++
  if (fresh === 0) return add
  let room = max
  for (const provider in sum) for (const _ in sum[provider]) room--
  if (fresh <= room) return add
  const kept: Record<string, ProviderTotals> = dictionary()
  for (const provider in add)
    for (const [model, share] of Object.entries(add[provider] ?? EMPTY)) {
      const fits = hasModel(sum, provider, model) || room-- > 0
      addModel(fits ? openModel(kept, provider, model) : openModel(kept, '', OTHERS), share)
    }
  return kept
}

function hasModel(models: Models, provider: string, model: string): boolean {
  const ofProvider = named(models, provider)
  return ofProvider !== undefined && Object.hasOwn(ofProvider, model)
}
