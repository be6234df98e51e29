import assert from 'node:assert/strict'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import type { Sallyport } from '../../../src/sallyport/create-sallyport.ts'

/** Another sight of the same database: nothing that a process remembers can stand for what is stored. */
export interface SecondReader {
  readonly store: DispatchStore
  readonly sallyport: Sallyport
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there
type Json = any

/** Reads back what was answered for, and compares it with what was sent; gives how much there was. */
export async function readBack(answer: Json, sent: Json, snapshot: SecondReader): Promise<number> {
  if (Array.isArray(answer.results)) {
    const all = answer.results.map((result: Json, index: number) => readBack(result, sent.runs[index], snapshot))
    return (await Promise.all<number>(all)).reduce((sum, count) => sum + count, 0)
  }
  if (answer.dispatchId !== undefined) return readDispatch(answer, sent, snapshot)
  return answer.created ? readRun(answer, sent, snapshot) : 0
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

/** Of a run that others may have told of since, nothing can be said. */
async function readRun({ run }: Json, { sessionId, run: sent }: Json, { sallyport }: SecondReader): Promise<number> {
  const stored: Json = await sallyport.runs.get(sent.runId)
  assert.ok(stored, 'what was answered 201 is not stored')
  if (stored.revision !== 1 || stored.lastSeenAt !== stored.createdAt) return 0
  if (run) assert.deepStrictEqual(asJson(stored), run)
  assert.equal(stored.sessionId, sessionId)
  assert.deepStrictEqual(pick(stored, TEXTS), pick(sent, TEXTS))
  assert.deepStrictEqual(stored.tags ?? [], [...new Set(sent.tags ?? [])].sort())
  assert.deepStrictEqual(stored.metadata ?? {}, reported(sent.metadata))
  assert.deepStrictEqual(pick(stored.counts, Object.keys(reported(sent.counts))), reported(sent.counts))
  if (stored.error) assert.deepStrictEqual(stored.error, pick(sent.error, ['type', 'message', 'code', 'retryable']))
  return 1
}

/** The members that are there, as JSON has them; `null` says nothing. */
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
