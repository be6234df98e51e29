import { fc } from '../support/properties.ts'
import { type Call, LIVES, type Quantity, quantityOf, SPEAKERS, type Speaker } from './mixtures-speakers.ts'

const tokens = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1_000_000 }))

export const calls: fc.Arbitrary<Call> = fc.record({
  plain: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  text: tokens,
  reasoning: tokens,
})

export function addCalls(one: Call, other: Call): Call {
  return {
    plain: one.plain + other.plain,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    text: one.text + other.text,
    reasoning: one.reasoning + other.reasoning,
  }
}

/** A call without the parts that a speaker cannot state. */
export function callFor({ cannotSay = [] }: Speaker, call: Call): Call {
  return { ...call, ...Object.fromEntries(cannotSay.map((part) => [part, 0])) }
}

const MARKS = ['absent', 'absent', 'true', 'zero', 'other'] as const
type Mark = (typeof MARKS)[number]

/** A spelling of another interface. */
interface Stray {
  readonly quantity: Quantity
  readonly place: string
  readonly mark: Mark
}

const FOREIGN = SPEAKERS.flatMap(({ says, prefix = '', inside }) =>
  inside === undefined
    ? says.flatMap(([quantity, ...places]) => places.map((place) => ({ quantity, place: prefix + place })))
    : [],
)
const WHOLE = SPEAKERS.filter(({ inside }) => inside === undefined).map(({ says, prefix = '' }) =>
  says.map(([quantity, place]) => ({ quantity, place: prefix + place })),
)

const marked = (spelling: Omit<Stray, 'mark'>, marks: readonly Mark[]): fc.Arbitrary<Stray> =>
  fc.constantFrom(...marks).map((mark) => ({ ...spelling, mark }))
const STATED = ['true', 'zero', 'other'] as const

const strays: fc.Arbitrary<readonly Stray[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 4,
    arbitrary: fc.array(
      fc.constantFrom(...FOREIGN).chain((spelling) => marked(spelling, STATED)),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...WHOLE), fc.constantFrom<Mark>('true', 'true', 'zero'), fc.boolean())
      .chain(([all, mark, isMixed]) => fc.tuple(...all.map((spelling) => marked(spelling, isMixed ? STATED : [mark])))),
  },
)

/** How a speaker writes one call. */
export interface Mixture {
  readonly marks: readonly Mark[]
  readonly isAgreed: boolean
  readonly strays: readonly Stray[]
  /** A count that stands in a stray member alone, beside zeros. */
  readonly lost: Quantity | undefined
  readonly unknown: { readonly place: string; readonly count: number } | undefined
  readonly hasParts: boolean
  readonly hasTwins: boolean
  readonly isCamel: boolean
  readonly inCounts: boolean
  readonly delta: number
  readonly order: number
}

const unknown = fc.record({
  place: fc.constantFrom('brand_new_tokens', 'mystery_token_count', '*/hologram', 'new_details/fresh_tokens'),
  count: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000 })),
})

export const mixtures: fc.Arbitrary<Mixture> = fc.record({
  marks: fc.array(fc.constantFrom(...MARKS), { minLength: 16, maxLength: 16 }),
  isAgreed: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  strays,
  lost: fc.constantFrom(undefined, undefined, 'cacheRead', 'cacheWrite'),
  unknown: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: unknown }),
  hasParts: fc.boolean(),
  hasTwins: fc.boolean(),
  isCamel: fc.boolean(),
  inCounts: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  delta: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  order: fc.nat(1_000_000),
})

/** What the reading of a rendered call must give: these counts, a doubt, or either. */
export type Verdict = 'right' | 'doubt' | 'either'

export interface Rendered {
  readonly fields: { readonly usage: object } | { readonly counts: object }
  readonly verdict: Verdict
  /** Pointers of the members that a doubt may name. */
  readonly suspects: ReadonlySet<string>
}

interface Leaf {
  readonly path: readonly string[]
  readonly count: number
  readonly from: 'own' | 'stray' | 'unknown' | 'part'
  readonly quantity?: Quantity
  readonly place?: string
}

/** Writes a call as a speaker does, with what gateways make of it, and says what may be read from that. */
export function render(speaker: Speaker, call: Call, mixture: Mixture): Rendered {
  const inCounts = mixture.inCounts && canStandInCounts(speaker)
  const isCamel = inCounts ? speaker.isOwn === true : mixture.isCamel
  const spell = (place: string, camel: boolean): string[] =>
    place.split('/').map((name) => (camel && !name.includes('.') ? inCamelCase(name) : name))
  const leaves: Leaf[] = []
  const add = (place: string, count: number, leaf: Omit<Leaf, 'path' | 'count'>, camel: boolean): void => {
    const places = place.split('+')
    const second = places.length > 1 ? Math.floor(count / 3) : 0
    for (const [index, one] of places.entries()) {
      const path = spell(one, camel)
      if (!leaves.some((other) => isSamePlace(path, other.path)))
        leaves.push({ ...leaf, path, count: index === 0 ? count - second : second })
    }
  }
  const otherThan = (count: number): number => Math.max(1, count + mixture.delta) + Number(isNear(count, mixture.delta))

  const { prefix = '', parts = [], needsTotal, says } = speaker
  const foreign = mixture.strays.filter(
    (stray) => !hasPlace(speaker, stray.place) && !isUndecidable(speaker, call, stray),
  )
  const lost = inCounts && speaker.isOwn ? undefined : mixture.lost
  const isConflict = new Set<Quantity>()
  const isDropped = speaker.dropsReasoning === true && call.reasoning > 0
  // Sallyport's own counts hold as they are, and two false statements may agree.
  const canTotalDiffer = !(inCounts && speaker.isOwn) && foreign.every(({ mark }) => mark !== 'other')
  let at = 0
  for (const [quantity, ...places] of says) {
    const count = quantityOf(call, quantity)
    const marks = places.map((place): Mark => {
      const mark = mixture.marks[at++ % mixture.marks.length] ?? 'true'
      if (place === LIVES && foreign.some((stray) => stray.quantity === 'input')) return 'absent'
      const cannotDiffer = mixture.isAgreed || count === 0 || (quantity === 'total' && !canTotalDiffer)
      return mark === 'other' && cannotDiffer ? 'true' : mark
    })
    if (quantity === lost) marks.fill('zero')
    else if (!marks.includes('true') && (quantity !== 'total' || needsTotal)) marks[0] = 'true'
    if (quantity === 'total' && isDropped) isConflict.add(quantity)
    if (count > 0 && marks.includes('other')) isConflict.add(quantity)
    for (const [index, place] of places.entries()) {
      const mark = marks[index]
      if (mark === undefined || mark === 'absent') continue
      const other = quantity === 'total' ? otherTotal(call, mixture.delta) : otherThan(count)
      const stated = mark === 'true' ? count : mark === 'zero' ? 0 : other
      add(prefix + place, stated, { from: 'own', quantity }, isCamel)
      if (mixture.hasTwins && index === 0 && !inCounts) add(prefix + place, stated, { from: 'own', quantity }, !isCamel)
    }
  }
  if (mixture.hasParts && !inCounts)
    for (const [place, quantity] of parts) add(place, quantityOf(call, quantity), { from: 'part' }, isCamel)
  for (const { place, quantity, mark } of foreign) {
    const count = quantityOf(call, quantity)
    const canDiffer = count > 0 && quantity !== 'total'
    add(
      place,
      mark === 'zero' ? 0 : mark === 'other' && canDiffer ? otherThan(count) : count,
      { from: 'stray', quantity, place },
      isCamel && !inCounts,
    )
  }
  if (lost !== undefined) restoreLost(leaves, lost, quantityOf(call, lost))
  const isKnownObject = mixture.unknown?.place.includes('/') === true
  if (mixture.unknown && !(inCounts && (prefix !== '' || isKnownObject))) {
    const details = says.flatMap(([, ...places]) => places).find((place) => place.includes('_details/'))
    const place = mixture.unknown.place.replace('*/', details ? `${details.split('/')[0]}/` : 'token_details/')
    add(prefix + place, mixture.unknown.count, { from: 'unknown' }, isCamel)
  }

  const isUnread = !inCounts && leaves.some(({ from, count }) => from === 'unknown' && count > 0)
  const hasStrays = leaves.some(({ from }) => from === 'stray')
  // With stray members, another interface may be read, which knows no total.
  const isConflicting = [...isConflict].some((quantity) => quantity !== 'total' || !hasStrays)
  const inside = speaker.inside?.split('/') ?? []
  const root = ['', 'run', inCounts ? 'counts' : 'usage', ...inside]
  const suspects = leaves.filter(
    ({ from, quantity }) => from !== 'own' || hasStrays || (quantity !== undefined && isConflict.has(quantity)),
  )
  const counts = [...inside]
    .reverse()
    .reduce<object>((object, name) => ({ [name]: object }), nest(leaves, mixture.order))
  return {
    fields: inCounts ? { counts } : { usage: mixture.hasParts ? { ...speaker.lists?.(call), ...counts } : counts },
    verdict: isUnread || isConflicting ? 'doubt' : hasStrays ? 'either' : 'right',
    suspects: new Set(suspects.map(({ path }) => [...root, ...path].join('/'))),
  }
}

function isNear(count: number, delta: number): boolean {
  return Math.max(1, count + delta) === count
}

function canStandInCounts({ inside }: Speaker): boolean {
  return inside === undefined
}

/** States a lost count under the speaker's first name for it, if no stray member states it whole. */
function restoreLost(leaves: Leaf[], lost: Quantity, count: number): void {
  const found = leaves.filter(({ from, quantity }) => from === 'stray' && quantity === lost)
  const sums = found.map(({ place }) =>
    found.filter((leaf) => leaf.place === place).reduce((sum, leaf) => sum + leaf.count, 0),
  )
  const first = leaves.findIndex(({ from, quantity }) => from === 'own' && quantity === lost)
  const own = leaves[first]
  if (own && !sums.includes(count)) leaves[first] = { ...own, count }
}

/** A wrong total. Not one of those that an interface which leaves out a part would state. */
function otherTotal(call: Call, delta: number): number {
  const [total, cached] = [quantityOf(call, 'total'), call.cacheRead + call.cacheWrite]
  const fitting = [-1, 0, 1].flatMap((one) => [-1, 0, 1].map((two) => total + one * cached + two * call.reasoning))
  let other = Math.max(1, total + delta)
  while (fitting.includes(other)) other++
  return other
}

/** True for a false input beside zeros alone: those look like names that a gateway does not use, so that a zero never hides a count. */
function isUndecidable({ says }: Speaker, call: Call, { quantity, mark }: Stray): boolean {
  const isZero = call.plain === 0 && quantityOf(call, 'output') === 0
  return isZero && quantity === 'input' && mark === 'other' && says.some(([stated]) => stated === 'plain')
}

function hasPlace({ says, prefix = '' }: Speaker, place: string): boolean {
  return says.some(([, ...places]) => places.some((own) => prefix + own === place))
}

function inCamelCase(name: string): string {
  if (name.startsWith('x_')) return name
  return name
    .split('_')
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

/** True if two members cannot stand in one object: one is the other, or in it. */
function isSamePlace(path: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(path.length, other.length)
  return path.slice(0, length).join('/') === other.slice(0, length).join('/')
}

/** The members as objects, in the order that a seed gives. */
function nest(leaves: readonly Leaf[], seed: number): object {
  const root: Record<string, unknown> = {}
  let random = seed + 1
  const ordered = leaves
    .map((leaf) => {
      random = (random * 48_271) % 2_147_483_647
      return { leaf, random }
    })
    .sort((one, other) => one.random - other.random)
  for (const { leaf } of ordered) {
    let object = root
    for (const name of leaf.path.slice(0, -1)) {
      object[name] ??= {}
      object = object[name] as Record<string, unknown>
    }
    object[leaf.path.at(-1) ?? ''] = leaf.count
  }
  return root
}

/** Prices of a million tokens, in hundredths. */
const RATES = { plain: 710n, cacheRead: 53n, cacheWrite: 970n, output: 3130n } as const

export const PRICES = { input: '7.1', cacheRead: '0.53', cacheWrite: '9.7', cacheWrite1h: '9.7', output: '31.3' }

/** The exact cost of a call at {@link PRICES}. */
export function costOfCall(call: Call): string {
  const sum = (Object.keys(RATES) as (keyof typeof RATES)[]).reduce(
    (all, name) => all + RATES[name] * BigInt(quantityOf(call, name)),
    0n,
  )
  const digits = sum.toString().padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '')
}
