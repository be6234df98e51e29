import assert from 'node:assert/strict'
import type { Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'

/** A second handle on the same database, so caches of the first cannot hide what is stored. */
export interface SecondReader {
  readonly store: DispatchStore
  readonly sallyport: Sallyport
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
type Json = any

/** Reads accepted records back, compares them with the request, and returns their number. */
export async function readBack(answer: Json, sent: Json, reader: SecondReader): Promise<number> {
  if (Array.isArray(answer.results)) {
    const all = answer.results.map((result: Json, index: number) => readBack(result, sent.runs[index], reader))
    return (await Promise.all<number>(all)).reduce((sum, count) => sum + count, 0)
  }
  if (answer.dispatchId !== undefined) return readDispatch(answer, sent, reader)
  return answer.created ? readRun(answer, sent, reader) : 0
}

async function readDispatch(answer: Json, sent: Json, { store }: SecondReader): Promise<number> {
  const stored = await store.findDispatch('default', answer.dispatchId)
  assert.ok(stored, 'what was answered 202 is not stored')
  if (answer.duplicate) return 0
  const { eventType, recipient, sessionId = null, deliveries } = stored
  assert.deepStrictEqual(
    { eventType, recipient, sessionId },
    { ...pick(sent, ['eventType', 'recipient']), sessionId: sent.sessionId ?? null },
  )
  for (const { content } of deliveries) {
    if (content?.data !== undefined && eventType === 'any')
      assert.deepStrictEqual(content.data, asJson(sent.eventData ?? {}))
  }
  return 1
}

const TEXTS = [
  'provider',
  'model',
  'responseModel',
  'parentRunId',
  'resumedFromRunId',
  'attempt',
  'seq',
  'countsScope',
  'userId',
  'environment',
]

/** Skips runs that other posts have updated since. */
async function readRun({ run }: Json, { sessionId, run: sent }: Json, { sallyport }: SecondReader): Promise<number> {
  const stored: Json = await sallyport.runs.get({ sessionId, runId: sent.runId })
  assert.ok(stored, 'what was answered 201 is not stored')
  if (stored.revision !== 1 || stored.lastSeenAt !== stored.createdAt) return 0
  // The answer to a session token has no revision.
  if (run?.revision !== undefined) assert.deepStrictEqual(asJson(stored), run)
  assert.equal(stored.sessionId, sessionId)
  assert.deepStrictEqual(pick(stored, TEXTS), pick(sent, TEXTS))
  assert.deepStrictEqual(stored.tags ?? [], [...new Set(sent.tags ?? [])].sort())
  assert.deepStrictEqual(stored.metadata ?? {}, reported(sent.metadata))
  assert.deepStrictEqual(pick(stored.counts, Object.keys(reported(sent.counts))), reported(sent.counts))
  if (stored.error) assert.deepStrictEqual(stored.error, pick(sent.error, ['type', 'message', 'code', 'retryable']))
  return 1
}

/** The present members, as JSON; `null` counts as absent. */
function pick(from: Json, keys: readonly string[]): Json {
  return Object.fromEntries(
    keys.flatMap((key) => ((from?.[key] ?? undefined) === undefined ? [] : [[key, asJson(from[key])]])),
  )
}

function reported(from: Json): Json {
  return pick(from, Object.keys(from ?? {}))
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}
