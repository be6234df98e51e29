import { gzipSync } from 'node:zlib'
import { BATCH, DISPATCH, RUN } from '../../adapters/matrix/paths.ts'
import { fc } from '../../support/properties.ts'
import { BAD_BYTES, CANARY, HOSTILE_KEYS, HOSTILE_TEXTS } from './hostile-texts.ts'
import { type Branch, placesOf, type Tree, treeOf, write } from './json-tree.ts'
import { VALID_BATCHES, VALID_DISPATCHES, VALID_RUNS } from './valid-bodies.ts'

/** One request as sent over the wire. */
export interface HostileRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Chunk size; `undefined`: sent with its length. */
  readonly pieces: number | undefined
  /** Printed by fast-check for a failing request. */
  [fc.toStringMethod](): string
}

const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 9, arbitrary: fc.oneof(...HOSTILE_TEXTS.map((texts) => fc.constantFrom(...texts))) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
)

/** Changes a body in one place. */
type Change = (branch: Branch, index: number) => void

const change: fc.Arbitrary<Change> = fc.oneof(
  hostileText.map(
    (text): Change =>
      ({ children }, index) => {
        children[index] = { key: children[index]?.key ?? '', tree: { text } }
      },
  ),
  fc.constantFrom(...HOSTILE_KEYS).map(
    (key): Change =>
      ({ children }, index) => {
        children[index] = { key, tree: children[index]?.tree ?? { text: '1' } }
      },
  ),
  fc.tuple(fc.constantFrom(...HOSTILE_KEYS), hostileText).map(
    ([key, text]): Change =>
      ({ children }, index) => {
        children.splice(index, 0, { key, tree: { text } })
      },
  ),
  hostileText.map(
    (text): Change =>
      ({ children }, index) => {
        children.push({ key: children[index]?.key ?? '', tree: { text } })
      },
  ),
  fc.constantFrom<Change>(
    ({ children }, index) => children.splice(index, 1),
    ({ children }, index) => children.splice(index, 0, ...children.slice(index, index + 1)),
    ({ children }, index) => {
      const { key = '', tree = { text: '1' } } = children[index] ?? {}
      children[index] = { key, tree: { kind: 'list', children: [{ key: '', tree }] } }
    },
  ),
)

/** A valid body with no change, one, or a few. */
function mutated(bodies: readonly ((id: string) => object)[]): fc.Arbitrary<string> {
  const id = fc.oneof(
    { weight: 9, arbitrary: fc.nat().map((number) => `r-${number}`) },
    { weight: 1, arbitrary: fc.constant('shared') },
  )
  const changes = fc.array(fc.tuple(fc.nat(), change), { maxLength: 3 })
  return fc.tuple(fc.constantFrom(...bodies), id, changes).map(([body, runId, all]) => {
    const tree: Tree = treeOf(body(runId))
    for (const [number, apply] of all) {
      const places = placesOf(tree)
      const place = places[number % Math.max(places.length, 1)]
      if (place) apply(place.branch, place.index)
    }
    return write(tree)
  })
}

/** Ways to spoil a text on its way. */
const spoiling: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
  { weight: 20, arbitrary: fc.constant((text: string) => Buffer.from(text)) },
  fc.constantFrom(
    (text: string) => Buffer.from(`\ufeff${text}`),
    (text: string) => Buffer.from(`\ufeff\ufeff${text}`),
    (text: string) => Buffer.from(text, 'utf16le'),
    (text: string) => gzipSync(text),
    (text: string) => Buffer.from(`${text} ${text}`),
    (text: string) => Buffer.from(`${text}\u0000`),
    (text: string) => Buffer.from(`${text}//`),
    () => Buffer.alloc(0),
    () => Buffer.from(`<a>${CANARY}</a>`),
    () => Buffer.from(CANARY),
  ),
  fc
    .constantFrom(10, 60_000, 66_000, 270_000, 1_050_000)
    .map((count) => (text: string) => Buffer.from(' \n\t\r'.repeat(count / 4) + text)),
  fc
    .double({ min: 0, max: 1, noNaN: true })
    .map((share) => (text: string) => Buffer.from(text.slice(0, text.length * share))),
  fc
    .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...BAD_BYTES))
    .map(([share, bytes]) => (text: string) => {
      const whole = Buffer.from(text)
      const at = Math.floor(whole.length * share)
      return Buffer.concat([whole.subarray(0, at), Buffer.from(bytes), whole.subarray(at)])
    }),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => () => Buffer.from(bytes)),
)

const oddly = (...values: string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...values) },
    { weight: 1, arbitrary: fc.string({ unit: latin, maxLength: 40 }) },
  )

/** Characters that Node's client can send in a header. */
const latin = fc
  .integer({ min: 0x20, max: 0xff })
  .filter((code) => code < 0x7f || code > 0x9f)
  .map((code) => String.fromCharCode(code))

const headers: fc.Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
  { weight: 16, arbitrary: fc.constant({}) },
  oddly(
    ...[
      'application/json; charset=utf-8',
      'application/json;charset="utf-8"',
      'APPLICATION/JSON ; a=b',
      'text/json',
      'application/json;charset=utf-16',
    ],
    ...[
      'application/jsonx',
      'multipart/form-data',
      'application/json,application/json',
      '',
      ';'.repeat(4_000),
      `application/json;${' '.repeat(4_000)}charset=x`,
      CANARY,
    ],
  ).map((value) => ({ 'content-type': value })),
  oddly('gzip', 'identity', 'br, gzip', '', CANARY).map((value) => ({ 'content-encoding': value })),
  oddly(
    'k1',
    '"k2"',
    '"',
    '""',
    `"${'k'.repeat(255)}"`,
    'k'.repeat(255),
    'k'.repeat(256),
    'k'.repeat(5_000),
    `${CANARY} ä`,
    '__proto__',
  ).map((value) => ({ 'idempotency-key': value })),
  oddly(
    'return=minimal',
    'return="minimal"',
    `${','.repeat(4_000)}return=minimal`,
    `return=${' '.repeat(4_000)}`,
    CANARY,
  ).map((prefer) => ({ prefer })),
  oddly(
    'Bearer',
    'Bearer ',
    `Bearer ${CANARY}`,
    `Bearer ${'a.'.repeat(2_000)}`,
    'Basic YTpi',
    'bearer  bearer',
    `Bearer ${'='.repeat(4_000)}`,
  ).map((authorization) => ({ authorization })),
)

const query: fc.Arbitrary<string> = fc.oneof(
  { weight: 9, arbitrary: fc.constant('') },
  fc.constantFrom(
    ...[
      '?dryRun=true',
      '?dryRun=false',
      '?dryRun',
      '?dry_run=true',
      '?__proto__=1',
      '?dryRun=true&dryRun=false',
      '?%',
      '?%00=%ff',
      `?${CANARY}`,
    ],
  ),
)

const aimed: fc.Arbitrary<readonly [path: string, text: string]> = fc.oneof(
  fc.tuple(fc.constant(DISPATCH), mutated(VALID_DISPATCHES)),
  fc.tuple(fc.constant(RUN), mutated(VALID_RUNS)),
  fc.tuple(fc.constant(BATCH), mutated(VALID_BATCHES)),
  fc.tuple(fc.constantFrom(DISPATCH, RUN, BATCH), hostileText),
)

/** Requests with hostile bodies: nearly valid, invalid in every way of JSON, or no JSON. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc
  .tuple(aimed, spoiling, headers, query, fc.option(fc.constantFrom(7, 1_000, 70_000), { freq: 8, nil: undefined }))
  .map(([[path, text], spoil, sent, search, size]) => {
    const body = spoil(text)
    const pieces = size !== undefined && body.length / size < 2_000 ? size : undefined
    return requestOf({ path: path + search, headers: sent, body, pieces })
  })

const known = (path: string, text: string, sent: HostileRequest['headers'] = {}): HostileRequest =>
  requestOf({ path, headers: sent, body: Buffer.from(text), pieces: undefined })

const KNOWN_RUN = JSON.stringify(VALID_RUNS[1]?.('known'))

/** Requests that get 202, 201 or 200, 200, 400, 401, 413, 415 and 422: the statuses that every barrage must get. */
export const KNOWN_REQUESTS: readonly HostileRequest[] = [
  known(DISPATCH, JSON.stringify(VALID_DISPATCHES[1]?.(''))),
  known(RUN, KNOWN_RUN),
  known(RUN, KNOWN_RUN),
  known(RUN, '{'),
  known(RUN, KNOWN_RUN, { authorization: 'Bearer' }),
  known(DISPATCH, ' '.repeat(1_100_000)),
  known(DISPATCH, '{}', { 'content-type': 'text/plain' }),
  known(DISPATCH, '{}'),
]

function requestOf(request: Omit<HostileRequest, typeof fc.toStringMethod>): HostileRequest {
  const { body } = request
  return { ...request, [fc.toStringMethod]: () => JSON.stringify({ ...request, body: body.toString('latin1') }) }
}

/** Nearly valid bodies for one run. */
export const hostileRun: fc.Arbitrary<string> = mutated(VALID_RUNS)

/** The bodies of {@link hostileRequest}. */
export const hostileBody: fc.Arbitrary<string> = aimed.map(([, text]) => text)

/** Parses JSON; gives `undefined` for other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
