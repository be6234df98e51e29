import * as v from 'valibot'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { BATCH, DISPATCH, LIMIT, RUN } from '../../adapters/matrix/paths.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { HEAVY_JSON } from './heavy-json.ts'
import type { Act, LoopCases } from './loop-case.ts'

type Path = keyof typeof LIMIT

/** Places for a heavy text, with the body around it. */
const FRAMES: Readonly<Record<string, readonly [path: Path, open: string, close: string]>> = {
  'a whole dispatch': [DISPATCH, '', ''],
  'event data': [DISPATCH, '{"eventType":"any","recipient":"user_42","eventData":{"x":', '}}'],
  'event data of a schema': [DISPATCH, '{"eventType":"shaped","recipient":"user_42","eventData":{"lines":', '}}'],
  'a whole run': [RUN, '', ''],
  metadata: [RUN, '{"sessionId":"s1","run":{"runId":"r1","metadata":', '}}'],
  usage: [RUN, '{"sessionId":"s1","run":{"runId":"r1","usage":', '}}'],
  'an error message': [
    RUN,
    '{"sessionId":"s1","run":{"runId":"r1","status":"failed","error":{"type":"x","message":',
    '}}}',
  ],
  'a whole batch': [BATCH, '', ''],
  'posts of a batch': [BATCH, '{"runs":', '}'],
  'one post of a batch': [BATCH, '{"runs":[{"sessionId":"s1","run":{"runId":"r1","metadata":', '}}]}'],
}

export const BODY_CASES: LoopCases = Object.fromEntries(
  Object.entries(FRAMES).flatMap(([place, [path, open, close]]) =>
    Object.entries(HEAVY_JSON).map(([name, heavy]) => [
      `${place}: ${name}`,
      (share: number) => {
        const bytes = LIMIT[path] * share - open.length - close.length - 4
        return post(path, open + fitted(heavy, bytes) + close)
      },
    ]),
  ),
)

/** A hundred valid posts, and a hundred with as many faults as fit. */
export const BATCH_CASES: LoopCases = {
  'a hundred posts: full': (share) =>
    post(
      BATCH,
      hundred(share, (index) => fullRun(`r${index}`)),
    ),
  'a hundred posts: of one run': (share) =>
    post(
      BATCH,
      hundred(share, (index) => ({ ...fullRun('r'), seq: index })),
    ),
  'a hundred posts: with many faults': (share) =>
    post(
      BATCH,
      hundred(share, () => Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`k${index}`, '\0']))),
    ),
}

function hundred(share: number, run: (index: number) => object): string {
  const runs = Array.from({ length: Math.ceil(100 * share) }, (_, index) => ({ sessionId: 's1', run: run(index) }))
  return JSON.stringify({ runs })
}

function fullRun(runId: string): object {
  const text = (length: number): string => 'x'.repeat(length)
  return {
    runId,
    status: 'failed',
    counts: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`counter_${index}`, index])),
    usageByModel: Array.from({ length: 4 }, (_, index) => ({
      provider: text(20),
      model: `${text(60)}${index}`,
      counts: { inputTokens: 1 },
    })),
    error: { type: text(100), message: text(300) },
    tags: Array.from({ length: 10 }, (_, index) => `${text(20)}${index}`),
    metadata: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key_${index}`, text(30)])),
  }
}

/** A heavy text of the maximum size. */
function fitted(heavy: (bytes: number) => string, bytes: number): string {
  for (let asked = bytes; asked > 0; asked -= 512) {
    const text = heavy(Math.floor(asked))
    if (Buffer.byteLength(text) <= bytes) return text
  }
  throw new Error('nothing fits')
}

/** The first request to each handler, which loads what the platform loads late, for any content. */
const HARMLESS: Readonly<Record<Path, object>> = {
  [DISPATCH]: { eventType: 'any', recipient: 'user_42' },
  [RUN]: { sessionId: 's0', run: { runId: 'r0' } },
  [BATCH]: { runs: [{ sessionId: 's0', run: { runId: 'r0' } }] },
}

export const FIRST_CASES: LoopCases = Object.fromEntries(
  Object.entries(HARMLESS).map(([path, body]) => [
    `a first request: ${path}, harmless`,
    () => asking(handlerOf(), path, JSON.stringify(body)),
  ]),
)

const line = v.object({ sku: v.pipe(v.string(), v.maxLength(64)), count: v.pipe(v.number(), v.integer()) })

async function post(path: Path, body: string): Promise<Act> {
  const handle = handlerOf()
  await asking(handle, path, JSON.stringify(HARMLESS[path]))()
  return asking(handle, path, body)
}

function asking(handle: ReturnType<typeof toFetch>, path: string, body: string): () => Promise<void> {
  const headers = {
    authorization: 'Bearer app',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'idempotency-key': String(body.length),
  }
  return async () => {
    const answer = await handle(new Request(`http://localhost${path}`, { method: 'POST', headers, body }))
    if (answer.status >= 500 || answer.status === 413) throw new Error(`answered ${answer.status}`)
  }
}

function handlerOf(): ReturnType<typeof toFetch> {
  const events = defineEvents({
    any: { channels: { log: {} } },
    shaped: { data: v.object({ lines: v.array(line) }), channels: { log: {} } },
  })
  const channels = { log: recordingChannel(undefined, { address: ({ id }) => id }) }
  return toFetch(createSallyport({ auth: testAuth, events, store: memoryStore(), channels, logger: recordingLogger() }))
}
