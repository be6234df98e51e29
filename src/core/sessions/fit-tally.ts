import { dictionary, EMPTY, named } from '../../model/sums.ts'
import { addModel, type ModelTally, openModel, type Spend, type Tally } from '../../model/tally.ts'

/**
 * How many names a sum keeps, since names are texts that callers send. What a full one has no place for is not added, and
 * models go to {@link OTHERS}. No name ever leaves a sum, so that one that had no place never gets any: what was added in a
 * name is taken away where it was added.
 */
const MAX_COUNTS = 256
const MAX_CURRENCIES = 32
const MAX_MODELS = 200
const MAX_USERS = 256

/** The model, of no provider, that stands for those that a sum has no place for. */
const OTHERS = '(other)'

type Models = Tally['models']
type Users = Tally['users']

/** What a sum has a place for: usually `add` itself. */
export function fitTally(sum: Tally | undefined, add: Tally): Tally {
  const { spend, byStatus, time, durations, firstTokens } = add
  const fitting = fitSpend(sum?.spend, spend)
  const counts = fitNames(sum?.counts ?? EMPTY, add.counts, MAX_COUNTS)
  const models = fitModels(sum?.models ?? EMPTY, add.models)
  const users = fitUsers(sum?.users ?? EMPTY, add.users)
  if (fitting === spend && counts === add.counts && models === add.models && users === add.users) return add
  return { spend: fitting, byStatus, counts, models, time, durations, firstTokens, users }
}

/** What of `add` has a name in `sum`, or finds a place there. */
function fitNames<T>(
  sum: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, T>>,
  max: number,
): typeof add {
  const fresh = freshNames(sum, add)
  if (fresh === 0) return add
  let places = max - sizeOf(sum)
  if (fresh <= places) return add
  const fitting = dictionary<T>()
  for (const name in add) if (Object.hasOwn(sum, name) || places-- > 0) fitting[name] = add[name] as T
  return fitting
}

function fitSpend(sum: Spend | undefined, add: Spend): Spend {
  const cost = fitNames(sum?.cost ?? EMPTY, add.cost, MAX_CURRENCIES)
  return cost === add.cost ? add : { ...add, cost }
}

function fitUsers(sum: Users, add: Users): Users {
  const known = fitNames(sum, add, MAX_USERS)
  let fitting = known
  for (const user in known) {
    const spend = known[user] as Spend
    const fitted = fitSpend(named(sum, user), spend)
    if (fitted === spend) continue
    if (fitting === known) fitting = Object.assign(dictionary<Spend>(), known)
    ;(fitting as Record<string, Spend>)[user] = fitted
  }
  return fitting
}

function fitModels(sum: Models, add: Models): Models {
  let fresh = 0
  let fits = true
  for (const provider in add)
    for (const model in add[provider]) {
      const share = add[provider][model] as ModelTally
      const row = modelIn(sum, provider, model)
      if (row === undefined) fresh++
      if (fitModel(row, share) !== share) fits = false
    }
  return fits && (fresh === 0 || fresh <= MAX_MODELS - modelsOf(sum)) ? add : cutModels(sum, add)
}

function cutModels(sum: Models, add: Models): Models {
  const cut: Record<string, Record<string, ModelTally>> = dictionary()
  let places = MAX_MODELS - modelsOf(sum)
  for (const provider in add)
    for (const model in add[provider]) {
      const hasPlace = modelIn(sum, provider, model) !== undefined || places-- > 0
      const row = openModel(cut, hasPlace ? provider : '', hasPlace ? model : OTHERS)
      addModel(row, add[provider][model] as ModelTally)
    }
  for (const provider in cut) {
    const models = cut[provider] as Record<string, ModelTally>
    for (const model in models) models[model] = fitModel(modelIn(sum, provider, model), models[model] as ModelTally)
  }
  return cut
}

function fitModel(row: ModelTally | undefined, share: ModelTally): ModelTally {
  const counts = fitNames(row?.counts ?? EMPTY, share.counts, MAX_COUNTS)
  const cost = fitNames(row?.cost ?? EMPTY, share.cost, MAX_CURRENCIES)
  return counts === share.counts && cost === share.cost ? share : { runs: share.runs, counts, cost }
}

function modelIn(models: Models, provider: string, model: string): ModelTally | undefined {
  const ofProvider = named(models, provider)
  return ofProvider && named(ofProvider, model)
}

function modelsOf(models: Models): number {
  let all = 0
  for (const provider in models) all += sizeOf(models[provider] as Models[string])
  return all
}

function freshNames(sum: Readonly<Record<string, unknown>>, add: object): number {
  let fresh = 0
  for (const name in add) if (!Object.hasOwn(sum, name)) fresh++
  return fresh
}

function sizeOf(of: object): number {
  let size = 0
  for (const _ in of) size++
  return size
}
