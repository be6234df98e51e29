import { describe, expect, it } from 'vitest'
import type { HandlerResult } from '../../../src/core/answers/result.ts'
import { handleSessionRunBatch } from '../../../src/core/runs/handle-session-run-batch.ts'
import type { RunAnswer } from '../../../src/model/run-post.ts'
import type { Redactor } from '../../../src/ports/redactor.ts'
import type { EndedRun } from '../../../src/ports/run-exporter.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fc, runs } from '../../support/properties.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { answerOf, problemOf, recorder, runOf, stillClock } from './recorder.ts'

/** Removes every word that starts with `c4n4ry`, except its last letter. */
const cleaned = (text: string): string => text.replace(/c4n4ry\S*(\S)/g, '[$1]')
const sync: Redactor = { redact: cleaned }
const async: Redactor = {
  async redact(text) {
    await null
    return cleaned(text)
  },
}

const FAILED = {
  runId: 'r1',
  status: 'failed',
  error: { type: 'c4n4ry-1', message: 'it was c4n4ry-2, and c4n4ry-3', code: 'c4n4ry-4', retryable: false },
  tags: ['c4n4ry-5', 'plain', 'c4n4ry-other-5'],
  metadata: { key: 'c4n4ry-6', toString: 'c4n4ry-7', size: 8, yes: true, gone: null, empty: '' },
}

/** A redactor that records its calls. */
function recording(by: Redactor = sync): Redactor & { readonly questions: string[] } {
  const questions: string[] = []
  return {
    questions,
    redact(text, field) {
      questions.push(`${field}: ${text}`)
      return by.redact(text, field)
    },
  }
}

describe.each([
  ['a synchronous redactor', sync],
  ['an asynchronous redactor', async],
])('%s', (kind, by) => {
  it(`Every text is passed once with its field, and nothing else, to ${kind}`, async () => {
    const redactor = recording(by)
    const { post } = recorder({ redactor })
    await post({ ...FAILED, tags: [...FAILED.tags, 'plain'], model: 'm', userId: 'u', finishReason: 'stop' })
    expect(redactor.questions.sort()).toEqual([
      'error.code: c4n4ry-4',
      'error.message: it was c4n4ry-2, and c4n4ry-3',
      'error.type: c4n4ry-1',
      'metadata.empty: ',
      'metadata.key: c4n4ry-6',
      'metadata.toString: c4n4ry-7',
      'tags: c4n4ry-5',
      'tags: c4n4ry-other-5',
      'tags: plain',
    ])
  })

  it(`Texts redacted by ${kind} are stored, answered and exported`, async () => {
    const exported: EndedRun[] = []
    const { post, deps } = recorder({ redactor: by, exporters: [{ export: (run) => void exported.push(run) }] })
    const kept = {
      error: { type: '[1]', message: 'it was [,] and [3]', code: '[4]', retryable: false },
      tags: ['[5]', 'plain'],
      metadata: { key: '[6]', toString: '[7]', size: 8, yes: true, empty: '' },
    }
    expect(runOf(await post(FAILED))).toMatchObject(kept)
    expect(exported).toEqual([expect.objectContaining(kept)])
    const stored = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })
    expect(stored?.state.application?.tags).toEqual(['[5]', 'plain'])
    expect(JSON.stringify([stored, exported])).not.toContain('c4n4ry')
  })

  it(`A repeated post changes nothing after redaction by ${kind}`, async () => {
    const { post } = recorder({ redactor: by })
    const first = answerOf(await post(FAILED))
    expect(answerOf(await post(FAILED))).toMatchObject({ created: false, changed: false, ignored: [], run: first.run })
  })

  it(`Redaction by ${kind} precedes the merge: no answer shows the raw text of another post`, async () => {
    const { post } = recorder({ redactor: by })
    const reported = (at: string) => ({
      error: { type: `c4n4ry-${at}`, message: `c4n4ry-${at}` },
      metadata: { key: `c4n4ry-${at}` },
    })
    await post({ runId: 'r1', status: 'failed', seq: 2, ...reported('a') })
    const late = await post({ runId: 'r1', status: 'failed', seq: 1, ...reported('b') })
    expect(answerOf(late).ignored).toEqual([
      { field: 'error', reason: 'superseded', kept: { type: '[a]', message: '[a]' } },
      { field: 'metadata.key', reason: 'superseded', kept: '[a]' },
    ])
  })

  it(`Other fields stay as they are with ${kind}, and a run without texts does not call it`, async () => {
    const redactor = recording(by)
    const { post } = recorder({ redactor })
    const run = { runId: 'r1', model: 'm', tags: null, metadata: { size: 1, no: false, gone: null }, error: null }
    expect(runOf(await post({ ...run, status: 'completed' }))).toMatchObject({ metadata: { size: 1, no: false } })
    expect(runOf(await post({ runId: 'r2' }))).not.toHaveProperty('tags')
    expect(redactor.questions).toEqual([])
  })

  it(`Metadata can be deleted with ${kind}`, async () => {
    const { post } = recorder({ redactor: by })
    await post({ runId: 'r1', seq: 1, metadata: { key: 'c4n4ry-1', other: 'x' } })
    expect(runOf(await post({ runId: 'r1', seq: 2, metadata: { key: null } })).metadata).toEqual({ other: 'x' })
  })
})

it('All texts of a post are redacted concurrently', async () => {
  let open: () => void = () => {}
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  let count = 0
  const redactor: Redactor = {
    async redact(text) {
      if (++count === 9) open()
      await all
      return cleaned(text)
    },
  }
  expect((await recorder({ redactor }).post(FAILED)).status).toBe(201)
})

it('Tags that become equal by redaction are joined, in any order', async () => {
  const tags = ['c4n4ry-1', 'c4n4ry-more-1', 'x', 'c4n4ry-2']
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(tags, { minLength: 4 }), fc.boolean(), async (order, apart) => {
      const { post } = recorder({ redactor: async })
      if (apart) for (const tag of order.slice(1)) await post({ runId: 'r1', tags: [tag] })
      expect(runOf(await post({ runId: 'r1', tags: apart ? order.slice(0, 1) : order })).tags).toEqual([
        '[1]',
        '[2]',
        'x',
      ])
    }),
    { numRuns: runs(50) },
  )
})

const throws = (): never => {
  throw new TypeError('c4n4ry')
}

/** Redactor answers that refuse a post, and the fields they apply to. */
const BROKEN: [what: string, answer: (text: string) => unknown, of: RegExp][] = [
  ['throws', throws, /./],
  ['rejects', () => Promise.reject(new TypeError('c4n4ry')), /./],
  ['throws a text', () => Promise.reject('c4n4ry'), /./],
  ['gives nothing', () => undefined, /./],
  ['gives null', async () => null, /./],
  ['gives a number', () => 5, /./],
  ['gives a boxed text', () => Object('c4n4ry'), /./],
  ['gives a list', async (text) => [text], /./],
  ['gives a NUL', (text) => `${text}\0`, /./],
  ['gives half a character', () => '\ud83d', /./],
  ['gives no text where there must be one', () => '', /^(?:error\.type|error\.code)$/],
  ['gives 101 characters', () => 'x'.repeat(101), /^(?:error\.type|error\.code|tags)$/],
  ['gives 65 characters', () => 'x'.repeat(65), /^tags$/],
  ['gives 513 characters', () => 'x'.repeat(513), /^(?!error\.message)/],
  ['gives 2001 characters', async () => 'x'.repeat(2001), /./],
]

const PLACES = ['error.type', 'error.message', 'error.code', 'tags', 'metadata.key']

describe.each(BROKEN)('a redactor that %s', (fault, answer, of) => {
  it.each(PLACES.filter((place) => of.test(place)))(
    `A redactor that ${fault} for %s refuses the post, and nothing is stored`,
    async (place) => {
      const redactor = { redact: (text: string, field: string) => (field === place ? answer(text) : cleaned(text)) }
      const exported: unknown[] = []
      const { post, deps, lines } = recorder({
        redactor: redactor as Redactor,
        exporters: [{ export: (run) => void exported.push(run) }],
      })
      const result = await withoutStrayRejections(() => post(FAILED))
      expect(result).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect(problemOf(result)).toMatchObject({ code: 'redactor_unavailable', detail: 'Try again shortly.' })
      expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })).toBeUndefined()
      expect(await deps.store.findSession('default', 's1')).toBeUndefined()
      expect(exported).toEqual([])
      expect(lines).toHaveLength(1)
      expect(lines).toMatchObject([{ event: 'request.failed', fields: { code: 'redactor_unavailable' } }])
      expect(JSON.stringify([result, lines])).not.toMatch(/c4n4ry|xxxx/)
    },
  )
})

it('Redacted texts of the maximum length are accepted', async () => {
  const most = { 'error.type': 100, 'error.message': 2000, 'error.code': 100, tags: 64, 'metadata.key': 512 }
  const least = { 'error.type': 1, 'error.message': 0, 'error.code': 1, tags: 0, 'metadata.key': 0 }
  for (const lengths of [most, least]) {
    const redactor = { redact: (_: string, field: string) => 'x'.repeat(lengths[field as keyof typeof most]) }
    expect((await recorder({ redactor }).post({ ...FAILED, metadata: { key: 'c4n4ry' } })).status).toBe(201)
  }
})

it('A failed redaction is logged by field only, and no rejection stays unhandled', async () => {
  let calls = 0
  const redactor: Redactor = {
    redact(text) {
      calls++
      if (text === 'plain') throw Object.assign(new RangeError('c4n4ry'), { code: 'E_DOWN' })
      return Promise.reject(new TypeError('c4n4ry'))
    },
  }
  const { post, lines } = recorder({ redactor })
  await withoutStrayRejections(() => post({ runId: 'r1', tags: ['plain', 'other'], metadata: { k: 'third' } }))
  expect(calls).toBe(3)
  expect(lines).toMatchObject([{ fields: { cause: 'RangeError', causeCode: 'E_DOWN' } }])
  const silent = recorder({ redactor: { redact: () => '' } })
  await silent.post({ runId: 'r1', error: { type: 'a' }, status: 'failed' })
  const long = recorder({ redactor: { redact: () => 'x'.repeat(600) } })
  await long.post({ runId: 'r1', metadata: { 'c4n4ry-key': 'a' } })
  const causes = [...silent.lines, ...long.lines].map(({ fields }) => (fields as { cause?: string }).cause)
  expect(causes).toEqual([
    'redact() of the redactor for error.type returned an empty string; return a text of 1 to 100 characters without NUL and lone surrogates',
    'redact() of the redactor for metadata returned a string; return a text of 0 to 512 characters without NUL and lone surrogates',
  ])
})

it('A tag that is redacted to an empty text is dropped', async () => {
  const { post } = recorder({ redactor: { redact: (text) => (text === 'a' ? '' : text) } })
  expect(runOf(await post({ runId: 'r1', tags: ['a', 'b'] })).tags).toEqual(['b'])
})

describe('redacted texts', () => {
  const error = { type: 'c4n4ry-1', message: 'c4n4ry-2', code: 'c4n4ry-3' }
  const texts = { error, tags: ['c4n4ry-4'], metadata: { k: 'c4n4ry-5' } }
  const known = { runId: 'known', parentRunId: 'p', status: 'failed', seq: 5, ...texts }
  /** Posts, and the status of each answer. */
  const posts: readonly (readonly [status: number, sessionId: string, run: object])[] = [
    [201, 's1', { ...known, runId: 'new' }],
    [200, 's1', known],
    [200, 's1', { ...known, seq: 1, error: { type: 'c4n4ry-9' }, metadata: { k: 'c4n4ry-8' } }],
    [200, 's1', { ...known, status: 'running' }],
    [201, 's1', { ...known, runId: 'unfinished', status: undefined }],
    [403, 's2', { ...known, runId: 'foreign' }],
    [409, 's1', { ...known, parentRunId: 'q' }],
    [422, 's1', { ...known, seq: -1 }],
    [422, 's1', { ...known, error: { ...error, type: 5 } }],
    [422, 's1', { ...known, error: { type: `c4n4ry${'x'.repeat(101)}`, message: `c4n4ry${'x'.repeat(2000)}` } }],
    [422, 's1', { ...known, tags: ['c4n4ry\0'] }],
    [422, 's1', { ...known, tags: 'c4n4ry', metadata: 'c4n4ry' }],
    [422, 's1', { ...known, metadata: { k: ['c4n4ry'], l: { m: 'c4n4ry' } } }],
    [422, 's1', { ...known, status: 'c4n4ry', timings: { startedAt: 'c4n4ry' } }],
    [503, 's1', { ...known, runId: 'unstorable' }],
    [503, 's1', { ...known, runId: 'new', tags: ['c4n4ry-refused'] }],
  ]

  function watched() {
    const seen: unknown[] = []
    const inner = memoryStore({ clock: stillClock() })
    const store: typeof inner = {
      ...inner,
      async mergeRun(key, decide) {
        if (key.runId === 'unstorable') throw new TypeError('disk')
        return inner.mergeRun(key, decide)
      },
    }
    const redactor: Redactor = {
      async redact(text, field) {
        if (text.includes('refused')) throw new TypeError(text)
        return async.redact(text, field)
      },
    }
    const exporters = [
      {
        export(run: EndedRun) {
          seen.push(run)
          throw new TypeError('no')
        },
      },
    ]
    const { deps, lines, post } = recorder({ store, redactor, exporters })
    const everything = async (): Promise<string> => {
      const runs = await store.listRuns({ tenant: 'default', limit: 99 })
      const sessions = await Promise.all(['s1', 's2'].map((id) => store.findSession('default', id)))
      return JSON.stringify([seen, lines, runs, sessions])
    }
    return { deps, post, seen, lines, everything }
  }

  it('No redacted text appears anywhere for single posts', async () => {
    const { post, seen, lines, everything } = watched()
    const answers: HandlerResult<RunAnswer>[] = [await post(known, { token: 's1' })]
    for (const [, sessionId, run] of posts) answers.push(await post(run, { sessionId, token: 's1' }))
    expect(answers.slice(1).map(({ status }) => status)).toEqual(posts.map(([status]) => status))
    expect(seen).toHaveLength(2)
    expect(lines).toHaveLength(4)
    expect(JSON.stringify(answers) + (await everything())).not.toContain('c4n4ry')
  })

  it('No redacted text appears anywhere for batches', async () => {
    const { deps, post, seen, lines, everything } = watched()
    const first = await post(known, { token: 's1' })
    const runs = posts.map(([, sessionId, run]) => ({ sessionId, run }))
    const batch = await handleSessionRunBatch({ headers: { authorization: 'Bearer s1' }, body: { runs } }, deps)
    if (!batch.ok) throw new Error('no batch')
    expect(batch.body.results.map(({ status }) => status)).toEqual(posts.map(([status]) => status))
    expect(seen).toHaveLength(2)
    expect(lines).toHaveLength(4)
    expect(JSON.stringify([first, batch]) + (await everything())).not.toContain('c4n4ry')
  })

  it('The redactor does not get refused posts', async () => {
    const redactor = recording()
    const { post } = recorder({ redactor })
    for (const [status, sessionId, run] of posts) {
      if (status === 422 || status === 403) await post(run, { sessionId, token: 's1' })
    }
    expect(redactor.questions).toEqual([])
  })
})
