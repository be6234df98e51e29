import { dictionary, EMPTY, named } from '../../../model/sums.ts'
import { addModel, type ModelTotals, openModel, type Totals } from '../../../model/totals.ts'
import { KNOWN_COUNTS } from '../merge/counts.ts'

/**
 * How many names a sum keeps, since names are texts that callers send. What a full one has no place for is not added, and
 * models go to {@link OTHERS}. No name ever leaves a sum, so that one that had no place never gets any: what was added in a
 * name is taken away where it was added. Known counts and currencies always have a place: of these there are only so many.
 */
export interface FreePlaces {
  readonly models: number
  /** Counts that are none of the known ones. */
  readonly counters: number
  /** The same, of each model. */
  readonly modelCounters: number
  readonly users: number
}

export const SESSION_PLACES: FreePlaces = { models: 200, counters: 256, modelCounters: 16, users: 0 }

/** Fewer: what is below a run is added below each run above it when the run finds its parent. */
export const BELOW_PLACES: FreePlaces = { models: 32, counters: 64, modelCounters: 16, users: 256 }

/** The model, of no provider, that stands for those that a sum has no place for. */
const OTHERS = '(other)'

type Models = Totals['models']

/** What a sum has a place for: usually `add` itself. */
export function capCardinality(sum: Totals | undefined, add: Totals, places: FreePlaces): Totals {
  const counts = fitNames(sum?.counts ?? EMPTY, add.counts, places.counters, KNOWN_COUNTS)
  const known: Models = sum?.models ?? EMPTY
  const models = fitModelCounts(known, fitModels(known, add.models, places.models), places.modelCounters)
  const users = fitNames(sum?.users ?? EMPTY, add.users, places.users, NONE)
  if (counts === add.counts && models === add.models && users === add.users) return add
  const { spend, byStatus, time, durations, firstTokens } = add
  return { spend, byStatus, counts, models, time, durations, firstTokens, users }
}

const NONE: ReadonlySet<string> = new Set()

/** What of `add` has a name in `sum`, or finds a place there. Those that are `free` need none. */
function fitNames<T>(
  sum: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, T>>,
  max: number,
  free: ReadonlySet<string>,
): typeof add {
  let fresh = 0
  for (const name in add) if (!Object.hasOwn(sum, name) && !free.has(name)) fresh++
  if (fresh === 0) return add
  let places = max
  for (const name in sum) if (!free.has(name)) places--
  if (fresh <= places) return add
  const fitting = dictionary<T>()
  for (const name in add) if (Object.hasOwn(sum, name) || free.has(name) || places-- > 0) fitting[name] = add[name] as T
  return fitting
}

function fitModels(sum: Models, add: Models, max: number): Models {
  let fresh = 0
  for (const provider in add) for (const model in add[provider]) if (!hasModel(sum, provider, model)) fresh++
  if (fresh === 0) return add
  const places = max - modelsOf(sum)
  return fresh <= places ? add : cutModels(sum, add, places)
}

function cutModels(sum: Models, add: Models, free: number): Models {
  const cut: Record<string, Record<string, ModelTotals>> = dictionary()
  let places = free
  for (const provider in add)
    for (const model in add[provider]) {
      const hasPlace = hasModel(sum, provider, model) || places-- > 0
      const row = openModel(cut, hasPlace ? provider : '', hasPlace ? model : OTHERS)
      addModel(row, add[provider][model] as ModelTotals)
    }
  return cut
}

/** Usually `add` itself. */
function fitModelCounts(sum: Models, add: Models, max: number): Models {
  for (const provider in add)
    for (const model in add[provider]) {
      const counts = add[provider][model]?.counts
      if (counts && fitCounts(sum, provider, model, counts, max) !== counts) return cutModelCounts(sum, add, max)
    }
  return add
}

function cutModelCounts(sum: Models, add: Models, max: number): Models {
  const cut: Record<string, Record<string, ModelTotals>> = dictionary()
  for (const provider in add)
    for (const model in add[provider]) {
      const share = add[provider][model] as ModelTotals
      const counts = fitCounts(sum, provider, model, share.counts, max)
      addModel(openModel(cut, provider, model), { ...share, counts })
    }
  return cut
}

function fitCounts(
  sum: Models,
  provider: string,
  model: string,
  counts: ModelTotals['counts'],
  max: number,
): typeof counts {
  const ofProvider = named(sum, provider)
  const share = ofProvider && named(ofProvider, model)
  return fitNames(share?.counts ?? EMPTY, counts, max, KNOWN_COUNTS)
}

function hasModel(models: Models, provider: string, model: string): boolean {
  const ofProvider = named(models, provider)
  return ofProvider !== undefined && Object.hasOwn(ofProvider, model)
}

function modelsOf(models: Models): number {
  let all = 0
  for (const provider in models) for (const _ in models[provider]) all++
  return all
}
