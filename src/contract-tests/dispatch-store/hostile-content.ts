import type { Content } from '../../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { equal, matches } from '../assertions.ts'
import { delivery, digested, HOUR, proof, RETRY, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, numbers } from './store-harness.ts'

const TEXTS: readonly string[] = [
  ...['', ' ', 'a ', '💥', '👩‍👩‍👧', 'á', 'a\u0301', "Robert'); DROP TABLE x; --", '\\', '\\u0000', '\\0', '"', '`'],
  ...['%', '_', '%s', '$1', ':a', '?', '\n', '\r\n', '\t', '\x7f', '\x01', '\u2028', '\ufeff', '\ufffd', '\uffff'],
  ...['null', 'true', '1', '1e3', '0x10', '[]', '{}', '2026-11-21T08:00:00.000Z', '2026-11-21', '/Date(0)/'],
]

const NUMBERS: readonly number[] = [
  ...[0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31, 2 ** 32, -(2 ** 31) - 1],
  ...[0.1, 0.1 + 0.2, 1 / 3, 1e-7, 1.5e300, -1e-300, 123_456_789.123_456_78],
]

/** All that JSON can be, in so many ways that something is likely to go wrong. */
export function everything(): JsonObject {
  return {
    texts: TEXTS,
    numbers: NUMBERS,
    others: [true, false, null, [], {}, [[]], [{}], { a: {} }, { a: [] }, [[[[{ a: [{}] }]]]], [null, [null]]],
    named: Object.fromEntries(TEXTS.map((text, at) => [text, at])),
    own: {
      constructor: 1,
      toString: null,
      hasOwnProperty: {},
      length: 2,
      _id: 'a',
      $set: 1,
      'a.b': 2,
      'a[0]': 3,
      0: 4,
    },
    deep: nested(24),
  }
}

function nested(levels: number): JsonValue {
  let value: JsonValue = { end: true }
  for (const level of numbers(levels)) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Text of about so many bytes, in which no two parts are the same. */
export function longText(bytes: number): string {
  let text = ''
  for (let at = 0; text.length < bytes; at++) text += `${at} 💌 "quoted" \\ ${at * 7_919}\n`
  return text
}

export function hostileContentCases(): readonly DispatchCase[] {
  return [
    contractCase('content is kept whatever it says', async ({ accept, only, claimOne, other }) => {
      const content = everything() as Content
      await accept('1', { deliveries: [delivery('x', { content })] })
      equal((await only('1')).content, content)
      equal((await other.listDispatches({ tenant: TENANT, limit: 1 })).items[0]?.deliveries[0]?.content, content)
      equal((await claimOne()).content, content)
    }),

    contractCase('the events of a digest, and its recipient, are kept whatever they say', async (harness) => {
      const { accept, advance, claimOne, store, only } = harness
      const recipient = { id: '💌 ', attributes: everything(), addresses: { '__proto__ ': "'", a: '' } }
      for (const id of ['1', '2']) {
        await accept(id, { deliveries: [digested(id, { recipient, eventData: { id, ...everything() } })] })
      }
      await advance(HOUR)
      const claimed = await claimOne()
      equal(claimed.digest?.recipient, recipient)
      equal(
        claimed.digest?.events,
        ['1', '2'].map((id) => ({ dispatchId: id, eventData: { id, ...everything() } })),
      )
      const content = everything() as Content
      await store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, content })
      equal((await only('2')).content, content)
      equal((await claimOne()).content, content)
    }),

    contractCase('content that is empty is there, and is not the same as none', async (harness) => {
      const { accept, found, store, claim } = harness
      const { content: _, ...mute } = delivery('y', { channel: 'b', status: 'failed', reason: 'template_error' })
      const empty = delivery('x', { content: {} })
      await accept('1', { deliveries: [empty, mute] })
      const [x, y] = (await found('1')).deliveries
      equal([x?.content, y?.content], [{}, undefined])
      const [claimed] = (await claim()).deliveries
      equal(claimed?.content, {})
      if (claimed) await store.settle({ ...proof(claimed), to: 'failed', reason: 'channel_error' })
      matches(await store.retry(TENANT, '1', { expiresInMs: HOUR }), { changed: [{ deliveryId: 'x' }] })
    }),

    contractCase('content of 300 kB is kept to the last character', async (harness) => {
      const { accept, only, claimOne, store, advance } = harness
      const content = { html: longText(300_000), text: 'short' }
      await accept('1', { deliveries: [delivery('x', { content })] })
      equal((await only('1')).content, content)
      equal((await claimOne()).content, content)
      const eventData = { html: longText(50_000) }
      for (const id of ['2', '3']) await accept(id, { deliveries: [digested(id, { eventData }, { channel: 'b' })] })
      await advance(HOUR)
      const claimed = await claimOne('b')
      matches(claimed.digest?.events, [{ eventData }, { eventData }])
      await store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, content })
      equal((await claimOne('b')).content, content)
    }),

    contractCase('the trace of a condition is kept whatever it says', async ({ accept, only }) => {
      const trace = [
        { rule: '==', path: 'data.a', expected: null, actual: everything(), result: true },
        { rule: 'function', result: false },
        ...TEXTS.map((text) => ({ rule: text, path: text, expected: [text], result: false })),
      ]
      await accept('1', { deliveries: [delivery('x', { status: 'skipped', reason: 'condition_false', trace })] })
      equal((await only('1')).trace, trace)
    }),

    contractCase('what a channel calls things is kept whatever it says', async (harness) => {
      const { accept, claimOne, store, only } = harness
      await accept('1')
      for (const [at, text] of TEXTS.filter((one) => one !== '').entries()) {
        const attempt = { outcome: 'unknown', code: text, provider: text } as const
        await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt })
        const stored = await only('1')
        equal(stored.lastCode, text)
        matches(stored.attemptLog.at(-1), { attempt: at + 1, ...attempt })
      }
      const providerMessageId = TEXTS.join('')
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: { outcome: 'sent', providerMessageId } })
      equal((await only('1')).providerMessageId, providerMessageId)
    }),

    contractCase('a settlement is not lost for a character that cannot be kept', async (harness) => {
      const { accept, claimOne, store, only, states } = harness
      const harmful = ['\0', 'a\0b', '\ud800', '\udc00', 'a\ud83d', '\udca5\ud83d', `${'x'.repeat(500)}\0`]
      await accept('1')
      for (const [at, code] of harmful.entries()) {
        const attempt = { ...RETRY, code, provider: code }
        const settled = await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt })
        equal(settled, { live: true, others: [] }, JSON.stringify(code))
        matches(await only('1'), { status: 'queued', attempts: at + 1 })
        equal((await only('1')).attemptLog.at(-1)?.outcome, 'retry')
      }
      for (const providerMessageId of harmful) {
        const id = `sent ${harmful.indexOf(providerMessageId)}`
        await accept(id, { deliveries: [delivery(id, { channel: 'b' })] })
        const attempt = { outcome: 'sent', providerMessageId } as const
        equal(await store.settle({ ...proof(await claimOne('b')), to: 'sent', attempt }), { live: true, others: [] })
        equal(await states(id), ['sent'], JSON.stringify(providerMessageId))
      }
      const history = (await claimOne()).history.map(({ outcome }) => outcome)
      equal(
        history,
        harmful.map(() => 'retry'),
      )
    }),

    contractCase('what is false, empty or nothing is kept', async ({ accept, found }) => {
      const content = { a: '', b: 0, c: false, d: null, e: [], f: {} }
      const trace = [{ rule: '==', path: '', expected: '', actual: 0, result: false }]
      await accept('1', { deliveries: [delivery('x', { content, trace })] })
      matches((await found('1')).deliveries, [{ content, trace }])
    }),
  ]
}
