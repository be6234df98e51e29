import type { Dispatch } from '../../../../src/model/dispatch.ts'
import type { AcceptOutcome, Claims, DispatchStore, LeaseToken } from '../../../../src/ports/dispatch-store.ts'
import { readDispatch } from '../../../../src/storage/rules/dispatch-rows.ts'
import { TENANTS } from '../../../core/delivery/operations.ts'
import { chance as chanceOf } from '../../../labs/chaos/chance.ts'
import type { FakeClock } from '../../../support/fake-clock.ts'
import { type Call, expectSame, forget, listed, Mismatch, remove, type Seen, settle } from './calls.ts'
import { claim } from './claim-call.ts'
import { type DispatchModel, dispatchModel } from './dispatch-model.ts'
import { type Drawing, operations, otherStep, type Step, stepFor, targetOf } from './draw-calls.ts'

/** Stores of two processes over one database, which is empty at first. */
export interface TwoStores {
  readonly stores: readonly [DispatchStore, DispatchStore]
  readonly clock: FakeClock
  /** Numbers of rows by table, of tables that are not empty. */
  rows(): Promise<Readonly<Record<string, number>>>
}

export interface ModelRun {
  readonly seed: number
  readonly operations: number
}

/** Numbers of calls by name, of what they answered, and of pairs; `in the other order`: the model agrees only with that one. */
export type Tally = Readonly<Record<string, number>>

/** Operations after which everything is sent and removed, so that nothing may be left. */
const CHAPTER = 200
/** Operations after which everything that is stored is compared, and not only a dispatch that each call changed. */
const COMPARED_EVERY = 20
const LEASES_KEPT = 40
const EVERYTHING = { leaseMs: 1_000, limits: { a: 99, b: 99, c: 99, d: 99 }, busy: [] }
/** Longer than any expiry, window or time to live of the operations. */
const LONG_MS = 3_600_000
/** Calls that read in several statements, so that in a pair a write may come between them, or whose answer does not tell the order. */
const MADE_ALONE: readonly string[] = ['listDispatches', 'countDue', 'redactAnswers']
/** Afterwards only their number tells which of two removals took a dispatch. */
const REMOVAL = 'removeDispatches'

/** Makes the operations of a seed through both stores, and compares each answer and what is stored. @throws {Mismatch} */
export async function runModel({ stores, clock, rows }: TwoStores, run: ModelRun): Promise<Tally> {
  const chance = chanceOf(run.seed)
  const drawn = operations(run.seed)
  const tally: Record<string, number> = {}
  const last: string[] = []
  const leases: LeaseToken[] = []
  const afters = [{}, {}]
  let model = dispatchModel(() => clock.now())
  let shown = textsOf(model)
  let ids = 0

  const note = (what: string): void => {
    tally[what] = (tally[what] ?? 0) + 1
  }
  const newId = (): string => `d${String(++ids).padStart(7, '0')}`
  const drawing = (through: number): Drawing => ({
    ...{ model, chance, leases, newId, now: clock.now(), after: afters[through] ?? {} },
  })

  function draw(through: number, about?: Call): Step {
    const target = about && chance.next() < 0.6 ? targetOf(about, model) : undefined
    for (;;) {
      const on = drawing(through)
      const step = chance.next() < 0.25 ? otherStep(on, target) : stepFor(drawn.next().value, on, target)
      if (step) return step
    }
  }

  function learn(call: Call, answer: unknown, through: number): void {
    note(call.name)
    for (const what of eventsOf(call, answer)) note(what)
    last.push(`${clock.now()} store ${through + 1}: ${call.name} ${JSON.stringify(call.given)}`)
    if (last.length > 12) last.shift()
    if (call.name !== 'claim') return
    const { deliveries, last: reached } = answer as Claims
    afters[through] = { ...afters[through], ...reached }
    leases.push(...deliveries.map(({ deliveryId, fence }) => ({ deliveryId, fence })))
    leases.splice(0, leases.length - LEASES_KEPT)
  }

  const through = (at: number): DispatchStore => stores[at] ?? stores[0]
  const on = (own: DispatchModel, seen: Seen, isPaired: boolean) => ({ model: own, now: clock.now(), seen, isPaired })

  async function alone(call: Call, at: number): Promise<unknown> {
    const answer = await call.run(through(at))
    learn(call, answer, at)
    const other = through(1 - at)
    await call.check(
      answer,
      on(model, (tenant, id) => other.findDispatch(tenant, id), false),
    )
    const changed = learnState()
    if (changed.length > 0) await compareOne(chance.of(changed), other)
    return answer
  }

  /** Notes what the model's dispatches came to. Answers the ids of those that changed. */
  function learnState(): readonly string[] {
    const before = shown
    shown = textsOf(model)
    const changed = [...shown].filter(([id, text]) => before.get(id) !== text)
    for (const [, text] of changed) for (const what of statesOf(JSON.parse(text))) note(what)
    return changed.map(([id]) => id)
  }

  async function compareOne(id: string, store: DispatchStore): Promise<void> {
    const row = model.dispatches.get(id)
    const stored = row && (await store.findDispatch(row.head.tenant, id))
    expectSame(`the dispatch ${id}`, stored, JSON.parse(shown.get(id) ?? 'null'))
  }

  /** Starts both calls at once. The model must agree with one of the two orders. */
  async function pair(calls: readonly [Call, Call], at: readonly [number, number]): Promise<void> {
    const answers = await Promise.all(calls.map((call, place) => call.run(through(at[place] ?? 0))))
    for (const place of [0, 1] as const) learn(calls[place], answers[place], at[place])
    const stored = await snapshot(through(chance.between(0, 1)))
    const seen: Seen = async (_, id) => stored.get(id)
    const refusals: string[] = []
    for (const order of [[0, 1] as const, [1, 0] as const]) {
      const tried = model.fork()
      try {
        for (const place of order) await calls[place].check(answers[place], on(tried, seen, true))
        compareAll(tried, stored)
      } catch (cause) {
        if (!(cause instanceof Mismatch)) throw cause
        refusals.push(cause.message)
        continue
      }
      note('pairs')
      if (order[0] === 1) note('pairs in the other order')
      model = tried
      learnState()
      return
    }
    const made = calls.map((call, place) => `${call.name}: ${JSON.stringify(answers[place])}`)
    throw new Mismatch(`no order of two calls explains them\n${made.join('\n')}\n${refusals.join('\n')}`)
  }

  async function step(): Promise<void> {
    const at = chance.between(0, 1)
    const one = draw(at)
    if ('waitMs' in one) {
      note('waits')
      clock.advance(one.waitMs)
      return
    }
    const place = chance.next() < 0.8 ? 1 - at : at
    const other = chance.next() < 0.2 ? draw(place, one) : undefined
    const isPair = other && !('waitMs' in other) && mayPair(one) && mayPair(other)
    if (isPair && !(one.name === REMOVAL && other.name === REMOVAL)) await pair([one, other], [at, place])
    else await alone(one, at)
  }

  /** A claim ends what has expired, and cancels what a dead worker left, in commits of their own: in a pair, it has neither to do. */
  function mayPair({ name }: Call): boolean {
    if (MADE_ALONE.includes(name)) return false
    const isInParts = model
      .deliveries()
      .some(
        (row) => row.slot >= 0 && row.wakeAt <= clock.now() && (row.expiresAt <= clock.now() || row.cancelledBy?.size),
      )
    return name !== 'claim' || !isInParts
  }

  async function compareStored(): Promise<void> {
    compareAll(model, await snapshot(through(chance.between(0, 1))))
  }

  /** Sends and removes everything: no row may be left of it. */
  async function endChapter(): Promise<void> {
    while ([...model.deliveries()].some((row) => ['queued', 'sending', 'held'].includes(row.status))) {
      const claims = (await alone(claim(EVERYTHING), 0)) as Claims
      for (const { deliveryId, fence, content } of claims.deliveries) {
        const sent = { to: 'sent', attempt: { outcome: 'sent' } } as const
        const rendered = { to: 'queued', delayMs: 0, content: { text: 'rendered' } } as const
        await alone(settle({ deliveryId, fence, ...(content ? sent : rendered) }), 1)
      }
      if (claims.deliveries.length === 0) clock.advance(Math.max(1, claims.nextDueInMs ?? LONG_MS))
    }
    await compareStored()
    clock.advance(LONG_MS)
    while ((await alone(remove({ acceptedForMs: 0, limit: 100 }), 0)) === 100);
    expectSame('the dispatches after the removal of all', model.dispatches.size, 0)
    while (Number(await alone(forget(100), 0)) === 100);
    expectSame('rows that are left after the removal of all', await rows(), {})
  }

  try {
    for (let made = 0; made < run.operations; made++) {
      await step()
      if (made % COMPARED_EVERY === 0) await compareStored()
      if (made % CHAPTER === CHAPTER - 1) await endChapter()
    }
    await endChapter()
  } catch (cause) {
    const failed = cause instanceof Error ? cause : new Error(String(cause))
    failed.message = `seed ${run.seed}: ${failed.message}\nthe last calls:\n${last.join('\n')}`
    throw failed
  }
  return tally
}

/** What an answer tells of. */
function eventsOf({ name }: Call, answer: unknown): readonly string[] {
  if (name === 'accept') return [(answer as AcceptOutcome).outcome]
  if (name !== 'claim') return []
  const { deliveries, expired } = answer as Claims
  return [...expired.map(() => 'expired'), ...deliveries.flatMap(({ reclaimed }) => (reclaimed ? 'reclaimed' : []))]
}

/** Notes about the deliveries of a dispatch. */
function statesOf({ deliveries }: Dispatch): readonly string[] {
  return deliveries.flatMap(({ eventCount = 0, reason }) => [
    ...(eventCount > 1 ? ['joined'] : []),
    ...(reason === 'throttled' ? ['throttled'] : []),
  ])
}

/** Everything that is stored, by dispatch id. */
async function snapshot(store: DispatchStore): Promise<ReadonlyMap<string, Dispatch>> {
  const pages = await Promise.all(TENANTS.map((tenant) => store.listDispatches({ tenant, limit: 10_000 })))
  return new Map(pages.flatMap(({ items }) => items).map((one) => [one.dispatchId, one]))
}

function compareAll(model: DispatchModel, stored: ReadonlyMap<string, Dispatch>): void {
  const expected = TENANTS.flatMap((tenant) => listed(model, { tenant }))
  expectSame(
    'the ids that are stored',
    [...stored.keys()],
    expected.map(({ dispatchId }) => dispatchId),
  )
  for (const one of expected) expectSame(`the dispatch ${one.dispatchId}`, stored.get(one.dispatchId), one)
}

function textsOf({ dispatches }: DispatchModel): ReadonlyMap<string, string> {
  return new Map([...dispatches].map(([id, row]) => [id, JSON.stringify(readDispatch(row))]))
}
