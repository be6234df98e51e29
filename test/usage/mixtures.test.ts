import { expect, it } from 'vitest'
import type { Warning } from '../../src/model/dispatch.ts'
import type { AnsweredRun } from '../../src/model/run.ts'
import { priceBook } from '../../src/pricing/index.ts'
import { answerOf, recorder } from '../core/runs/recorder.ts'
import { fc, runs, TIMEOUT_MS } from '../support/properties.ts'
import {
  addCalls,
  callFor,
  calls,
  costOfCall,
  type Mixture,
  mixtures,
  PRICES,
  type Rendered,
  render,
} from './mixtures-oracle.ts'
import { type Call, quantityOf, SPEAKERS, type Speaker } from './mixtures-speakers.ts'

const prices = priceBook({ version: 'v1', prices: [{ model: 'm', ...PRICES }] })
const DOUBTS: readonly string[] = ['usage_conflict', 'usage_unread'] satisfies Warning['code'][]

/** One post of a source. Without `rendered` it states no tokens. */
interface Posted {
  readonly source: 'app' | 's1'
  readonly seq: number | undefined
  readonly rendered?: Rendered
}

/** The posts of one source, and the call that all of them together report. */
interface Said {
  readonly speaker: Speaker
  readonly call: Call
  readonly posts: readonly Posted[]
}

interface Step {
  readonly added: Call
  readonly mixture: Mixture
  readonly further: number
  readonly isIdle: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  added: calls,
  mixture: mixtures,
  further: fc.nat(2),
  isIdle: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

const said = (source: Posted['source']): fc.Arbitrary<Said> =>
  fc
    .record({
      speaker: fc.constantFrom(...SPEAKERS),
      steps: fc.array(step, { minLength: 1, maxLength: 3 }),
      withoutSeq: fc.nat(3),
    })
    .map(({ speaker, steps, withoutSeq }) => {
      let call: Call = { plain: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 }
      let seq = 0
      const posts = steps.map(({ added, mixture, further, isIdle }, index): Posted => {
        seq += further
        const post = { source, seq: index < withoutSeq ? undefined : seq }
        if (isIdle) return post
        call = addCalls(call, callFor(speaker, added))
        return { ...post, rendered: render(speaker, call, mixture) }
      })
      return { speaker, call, posts }
    })

const sequences = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(said('app')) },
  { weight: 1, arbitrary: fc.tuple(said('s1')) },
  { weight: 2, arbitrary: fc.tuple(said('app'), said('s1')) },
)

/** What came of a post: doubts and the like. */
type Answered = ReadonlyMap<Posted, readonly Warning[]>

interface Recorded {
  readonly run: AnsweredRun
  readonly answered: Answered
  /** True if the end of the run was answered with a warning that it has no cost. */
  readonly isUnpriced: boolean
}

async function record(posts: readonly Posted[]): Promise<Recorded> {
  const { post } = recorder({ prices })
  const answered = new Map<Posted, readonly Warning[]>()
  for (const one of posts) {
    const { source, seq, rendered } = one
    const fields = rendered ? { model: 'm', ...rendered.fields } : { tags: ['idle'] }
    const { warnings } = answerOf(
      await post({ runId: 'r', ...(seq !== undefined && { seq }), ...fields }, { token: source }),
    )
    answered.set(one, warnings)
  }
  const { run, warnings } = answerOf(await post({ runId: 'r', status: 'completed' }))
  if (!run) throw new Error('no run in the answer')
  return { run, answered, isUnpriced: warnings.some(({ code }) => code.startsWith('unpriced')) }
}

const doubtsIn = (warnings: readonly Warning[] = []) => warnings.filter(({ code }) => DOUBTS.includes(code))
const looksExclusive = (warnings: readonly Warning[] = []) =>
  warnings.some(({ code }) => code === 'usage_looks_exclusive')

/** A post has the doubt that the oracle says, and names the member. */
function expectVerdict({ rendered }: Posted, warnings: readonly Warning[] = []): void {
  const doubts = doubtsIn(warnings)
  if (rendered === undefined || rendered.verdict === 'right') expect(doubts).toEqual([])
  if (!rendered) return
  if (rendered.verdict === 'doubt') expect(doubts).not.toEqual([])
  if (rendered.verdict === 'right') expect(looksExclusive(warnings)).toBe(false)
  if (doubts.length > 0)
    expect(doubts.map(({ pointer }) => pointer).some((pointer) => rendered.suspects.has(pointer))).toBe(true)
}

/** True if the last posts of a source, by `seq`, are in doubt. Then so is its run; else it may be, for counts of earlier posts. */
function mustBeInDoubt(posts: readonly Posted[], answered: Answered): boolean {
  const metered = posts.filter(({ rendered }) => rendered)
  const last = Math.max(...metered.map(({ seq = -1 }) => seq))
  return metered.some((post) => (post.seq ?? -1) === last && doubtsIn(answered.get(post)).length > 0)
}

function expectAmounts({ speaker, call, posts }: Said, { run, answered, isUnpriced }: Recorded): void {
  const metered = posts.filter(({ rendered }) => rendered)
  const inDoubt = run.usageDoubt === true
  if (mustBeInDoubt(posts, answered)) expect(inDoubt).toBe(true)
  if (inDoubt) expect(metered.some((post) => doubtsIn(answered.get(post)).length > 0)).toBe(true)
  if (metered.length === 0 || inDoubt) {
    expect(run.cost).toBeUndefined()
    return
  }
  const {
    inputTokens = 0,
    cacheReadTokens = 0,
    cacheWriteTokens = 0,
    outputTokens = 0,
    reasoningTokens = 0,
  } = run.counts ?? {}
  const read = { input: inputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens, output: outputTokens }
  const names = Object.keys(read) as (keyof typeof read)[]
  const truth = Object.fromEntries(names.map((name) => [name, quantityOf(call, name)]))
  const isRight = metered.every(({ rendered }) => rendered?.verdict === 'right')
  if (run.cost === undefined && !isRight && (isUnpriced || quantityOf(call, 'total') === 0)) return
  expect({ ...read, cost: run.cost?.amount }).toEqual({ ...truth, cost: costOfCall(call) })
  if (isRight && speaker.says.some(([quantity]) => quantity === 'reasoning'))
    expect(reasoningTokens).toBe(call.reasoning)
}

const shown = ({ counts, cost, usageDoubt }: AnsweredRun) => ({ counts, cost, usageDoubt })

it(
  'Mixtures of spellings give the right amounts, or no cost and a warning that names the member',
  async () => {
    await fc.assert(
      fc.asyncProperty(sequences, fc.nat(100), async (sources, turn) => {
        const posts = sources.flatMap((one) => one.posts)
        const recorded = await record(posts)
        const { run, answered } = recorded
        for (const post of posts) expectVerdict(post, answered.get(post))
        const [metering = sources[0]] = sources.filter(({ posts: own }) => own.some(({ rendered }) => rendered))
        expectAmounts(metering, recorded)
        const from = turn % posts.length
        for (const order of [posts.toReversed(), [...posts.slice(from), ...posts.slice(0, from)]])
          expect(shown((await record(order)).run)).toEqual(shown(run))
      }),
      { numRuns: runs(5000) },
    )
  },
  TIMEOUT_MS,
)
