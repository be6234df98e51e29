import type { Content } from '../../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { equal, matches } from '../assertions.ts'
import { delivery, digested, HOUR, keyed, MINUTE, proof, RETRY, TENANT } from './samples.ts'
import { claimOf, type DispatchCase, digesting, dispatchCases, idsOf, numbers } from './store-harness.ts'

/** Different texts that some databases compare as equal. */
const ALIKE = [
  ...['a', 'a ', ' a', 'A', 'á', 'a\u0301', 'à', 'ä', 'ae', 'æ', 'ａ', 'a\u200b', 'a\t', 'a\n'],
  ...['ß', 'ss', 'ẞ', 'ı', 'i', 'I', 'İ', '１', '1', '01', '1.0', '💥', '💣', '👩‍👩‍👧', '👩👩👧'],
]

/** Texts that break queries, keys and paths without escaping. */
const SHARP = [
  ...["'", '"', '`', '\\', '\\\\', "\\'", "''", '%', '_', 'a%', 'a_', '*', '?', '[a]', '$1', ':a', '@a', '{a}', '#{a}'],
  ...['--', ';', '/*', '#', '<a>', '&amp;', 'a:b', 'a|b', 'a/b', 'a,b', '\u2028', '\u00a0', '\ufeffa', '\x7f', '\r\n'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__', 'null', 'undefined', 'true', 'NaN'],
]

const NAMES: readonly string[] = [...ALIKE, ...SHARP]

/** Texts of the maximum length in four-byte characters, different only at the end. */
const LONG: readonly string[] = ['x', 'y', 'X', 'x '].map((end) => `${'💌'.repeat(1_023)}${end.padEnd(2, '.')}`)

function longAscii(length: number): readonly string[] {
  return ['x', 'y', 'X'].map((end) => `${'z'.repeat(length - 1)}${end}`)
}

const TEXTS: readonly string[] = [
  ...['', ' ', 'a ', '💥', '👩‍👩‍👧', 'á', 'a\u0301', "Robert'); DROP TABLE x; --", '\\', '\\u0000', '\\0', '"', '`'],
  ...['%', '_', '%s', '$1', ':a', '?', '\n', '\r\n', '\t', '\x7f', '\x01', '\u2028', '\ufeff', '\ufffd', '\uffff'],
  ...['null', 'true', '1', '1e3', '0x10', '[]', '{}', '2026-11-21T08:00:00.000Z', '2026-11-21', '/Date(0)/'],
]

const NUMBERS: readonly number[] = [
  ...[0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31, 2 ** 32, -(2 ** 31) - 1],
  ...[0.1, 0.1 + 0.2, 1 / 3, 1e-7, 1.5e300, -1e-300, 123_456_789.123_456_78],
]

/** Every kind of JSON value, including values that stores often change. */
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

/** A text of about this many bytes without repeated parts. */
export function longText(bytes: number): string {
  let text = ''
  for (let at = 0; text.length < bytes; at++) text += `${at} 💌 "quoted" \\ ${at * 7_919}\n`
  return text
}

export const hostileValueCases: readonly DispatchCase[] = dispatchCases([], {
  'recipients are stored and filtered exactly': async (t) => {
    const recipients = [...NAMES, ...LONG]
    for (const [at, recipient] of recipients.entries())
      await t.accept(`${at}`, { recipient, deliveries: [delivery(`${at}`, { address: recipient })] })
    for (const [at, recipient] of recipients.entries()) {
      matches(await t.found(`${at}`), { recipient, deliveries: [{ address: recipient }] })
      equal(await t.list({ recipient }), [`${at}`], `found by ${JSON.stringify(recipient.slice(-20))}`)
    }
    equal(await t.list({ recipient: 'b' }), [])
  },
  'limits with similar keys are separate': async (t) => {
    const keys = [...NAMES, ...LONG.map((key) => key.slice(-512))]
    for (const [at, key] of keys.entries()) {
      const limits = [{ key, max: 1, windowMs: HOUR }]
      await t.accept(`${at}`, {
        deliveries: [delivery(`${at}`, { limits }), delivery(`${at}+`, { channel: 'b', limits })],
      })
      const states = [...(await t.states(`${at}`))].sort()
      equal(states, ['queued', 'skipped throttled'], JSON.stringify(key.slice(-20)))
    }
  },
  'digests with similar keys are separate': async (t) => {
    const post = digesting(t)
    const keys = [...NAMES, '', ' ', ...LONG.map((key) => key.slice(-512))]
    for (const [at, key] of keys.entries()) {
      equal(await post(`${at}`, { key }), `${at}-d`, JSON.stringify(key.slice(-20)))
      equal(await post(`${at}+`, { key }), `${at}-d`, JSON.stringify(key.slice(-20)))
    }
  },
  'digests for similar recipients and addresses are separate': async (t) => {
    const post = digesting(t)
    for (const [at, text] of [...NAMES, ...LONG].entries()) {
      equal(await post(`r${at}`, {}, {}, { recipient: text }), `r${at}-d`, JSON.stringify(text.slice(-20)))
      equal(await post(`a${at}`, {}, { address: text }), `a${at}-d`, JSON.stringify(text.slice(-20)))
    }
  },
  'parts of the identity of a digest that join to the same text stay apart': async (t) => {
    const post = digesting(t)
    for (const mark of [':', '/', '|', '.', '-', '_', ' ', ',', '#', '"', '\\']) {
      equal(await post(`${mark}1`, { key: 'c' }, { address: `a${mark}b` }), `${mark}1-d`)
      equal(await post(`${mark}2`, { key: `b${mark}c` }, { address: 'a' }), `${mark}2-d`)
    }
  },
  'tenants with similar names are separate': async (t) => {
    for (const [at, tenant] of NAMES.entries())
      matches(await t.accept(`${at}`, { ...keyed(), tenant }), { outcome: 'accepted' })
    for (const [at, tenant] of NAMES.entries()) {
      matches(await t.found(`${at}`, tenant), { tenant })
      matches(await t.other.recall(tenant, 'k'), { answer: { dispatchId: `${at}` } })
      equal(await t.list({ tenant }), [`${at}`], JSON.stringify(tenant))
    }
  },
  'tenants with long names have lists, pages and time ranges of their own': async (t) => {
    const tenants = longAscii(200)
    for (const [at, tenant] of tenants.entries())
      for (const part of numbers(3)) {
        await t.accept(`${at}${part}`, { tenant })
        await t.advance(MINUTE)
      }
    for (const [at, tenant] of tenants.entries()) {
      const dated = await t.found(`${at}1`, tenant)
      for (const limit of [1, 2, 9])
        equal(await t.list({ tenant, limit, first: 'oldest' }), [`${at}0`, `${at}1`, `${at}2`])
      equal(await t.list({ tenant, until: dated.createdAt }), [`${at}0`])
      equal(await t.list({ tenant, since: dated.createdAt + 1 }), [`${at}2`])
    }
    const { nextDueInMs } = await t.store.claim(claimOf({ a: 4 }))
    equal(nextDueInMs, 0)
  },
  'similar ASCII keys, sessions and event types are separate, at full length': async (t) => {
    const keys = ['k', 'K', '%', '_', 'k%', "'", '\\', '__proto__', 'constructor', ...longAscii(255)]
    const sessions = ['s', 'S', '%', '_', "'", '\\', '__proto__', 'constructor', '~', '"', '0', ...longAscii(200)]
    const events = ['e', 'E', '_', 'e_', 'a.b', 'a-b', '__proto__', 'constructor', '0', ...longAscii(256)]
    for (const [at, key] of keys.entries()) {
      const sessionId = sessions[at] ?? ''
      const eventType = events[at] ?? ''
      matches(await t.accept(`${at}`, { ...keyed(key), sessionId, eventType }), { outcome: 'accepted' }, key)
    }
    for (const [at, key] of keys.entries()) {
      const [sessionId, eventType] = [sessions[at], events[at]]
      matches(await t.other.recall(TENANT, key), { answer: { dispatchId: `${at}` } })
      equal(await t.list({ sessionId }), [`${at}`], sessionId)
      equal(await t.list({ eventType }), [`${at}`], eventType)
    }
  },
  'channels with similar names are separate': async (t) => {
    const channels = ['c', 'C', '_', '.', '-', '__proto__', 'constructor', 'toString', '0', ...longAscii(64)]
    await t.accept('1', { deliveries: channels.map((channel) => delivery(`of ${channel}`, { channel })) })
    for (const channel of channels) {
      const { deliveries } = await t.claim(Object.fromEntries([[channel, 9]]))
      equal(
        deliveries.map((one) => [one.channel, one.deliveryId]),
        [[channel, `of ${channel}`]],
        channel,
      )
    }
  },
  'receivers with similar keys are separate': async (t) => {
    const keys = [...NAMES, ...LONG.map((key) => key.slice(-512))]
    for (const [at, concurrencyKey] of keys.entries())
      await t.accept(`${at}`, { deliveries: [delivery(`${at}`, { concurrencyKey })] })
    const busy = keys.slice(1).map((concurrencyKey) => ({ channel: 'a', concurrencyKey }))
    const { deliveries } = await t.store.claim(claimOf({ a: 999 }, { busy }))
    matches(deliveries, [{ deliveryId: '0', concurrencyKey: keys[0] }])
    equal(idsOf(await t.claimAll()), idsOf(keys.slice(1).map((_, at) => ({ deliveryId: `${at + 1}` }))))
  },
  'ids can be 200 characters long, and every character counts': async (t) => {
    const ids = [...longAscii(200), '%', '_', "'", '"', '\\', '__proto__', 'constructor']
    for (const id of ids) await t.accept(id, { deliveries: [delivery(id)] })
    for (const id of ids) matches(await t.found(id), { dispatchId: id, deliveries: [{ deliveryId: id }] })
    equal((await t.list({ limit: 3 })).sort(), ids.toSorted())
    const { deliveries } = await t.claim({ a: 99 })
    for (const { deliveryId, fence } of deliveries)
      await t.store.settle({ deliveryId, fence, to: 'failed', reason: 'channel_error' })
    for (const id of ids) {
      equal(await t.states(id), ['failed channel_error'])
      matches(await t.retry(id), { changed: [{ deliveryId: id }] })
    }
  },
  'content keeps all JSON values': async (t) => {
    const content = everything() as Content
    await t.accept('1', { deliveries: [delivery('x', { content })] })
    equal((await t.only('1')).content, content)
    equal((await t.other.listDispatches({ tenant: TENANT, limit: 1 })).items[0]?.deliveries[0]?.content, content)
    equal((await t.claimOne()).content, content)
  },
  'the events and the recipient of a digest keep all JSON values': async (t) => {
    const recipient = { id: '💌 ', attributes: everything(), addresses: { '__proto__ ': "'", a: '' } }
    for (const id of ['1', '2'])
      await t.accept(id, { deliveries: [digested(id, { recipient, eventData: { id, ...everything() } })] })
    await t.advance(HOUR)
    const claimed = await t.claimOne()
    equal(claimed.digest?.recipient, recipient)
    equal(
      claimed.digest?.events,
      ['1', '2'].map((id) => ({ dispatchId: id, eventData: { id, ...everything() } })),
    )
    const content = everything() as Content
    await t.store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, content })
    equal((await t.only('2')).content, content)
    equal((await t.claimOne()).content, content)
  },
  'empty content differs from no content': async (t) => {
    const { content: _, ...mute } = delivery('y', { channel: 'b', status: 'failed', reason: 'template_error' })
    const empty = delivery('x', { content: {} })
    await t.accept('1', { deliveries: [empty, mute] })
    const [x, y] = (await t.found('1')).deliveries
    equal([x?.content, y?.content], [{}, undefined])
    const [claimed] = (await t.claim()).deliveries
    equal(claimed?.content, {})
    if (claimed) await t.store.settle({ ...proof(claimed), to: 'failed', reason: 'channel_error' })
    matches(await t.retry('1'), { changed: [{ deliveryId: 'x' }] })
  },
  'content of 300 kB is stored exactly': async (t) => {
    const content = { html: longText(300_000), text: 'short' }
    await t.accept('1', { deliveries: [delivery('x', { content })] })
    equal((await t.only('1')).content, content)
    equal((await t.claimOne()).content, content)
    const eventData = { html: longText(50_000) }
    for (const id of ['2', '3']) await t.accept(id, { deliveries: [digested(id, { eventData }, { channel: 'b' })] })
    await t.advance(HOUR)
    const claimed = await t.claimOne('b')
    matches(claimed.digest?.events, [{ eventData }, { eventData }])
    await t.store.settle({ ...proof(claimed), to: 'queued', delayMs: 0, content })
    equal((await t.claimOne('b')).content, content)
  },
  'the trace of a condition keeps all JSON values': async (t) => {
    const trace = [
      { rule: '==', path: 'data.a', expected: null, actual: everything(), result: true },
      { rule: 'function', result: false },
      ...TEXTS.map((text) => ({ rule: text, path: text, expected: [text], result: false })),
    ]
    await t.accept('1', { deliveries: [delivery('x', { status: 'skipped', reason: 'condition_false', trace })] })
    equal((await t.only('1')).trace, trace)
  },
  'codes and providers of attempts are stored exactly': async (t) => {
    await t.accept('1')
    for (const [at, text] of TEXTS.filter((one) => one !== '').entries()) {
      const attempt = { outcome: 'unknown', code: text, provider: text } as const
      await t.settleNext({ to: 'queued', delayMs: 0, attempt })
      const stored = await t.only('1')
      equal(stored.lastCode, text)
      matches(stored.attemptLog.at(-1), { attempt: at + 1, ...attempt })
    }
    const providerMessageId = TEXTS.join('')
    await t.settleNext({ to: 'sent', attempt: { outcome: 'sent', providerMessageId } })
    equal((await t.only('1')).providerMessageId, providerMessageId)
  },
  'a settlement with characters that a store cannot keep still counts': async (t) => {
    const harmful = ['\0', 'a\0b', '\ud800', '\udc00', 'a\ud83d', '\udca5\ud83d', `${'x'.repeat(500)}\0`]
    await t.accept('1')
    for (const [at, code] of harmful.entries()) {
      const attempt = { ...RETRY, code, provider: code }
      const settled = await t.settleNext({ to: 'queued', delayMs: 0, attempt })
      equal(settled, { live: true, others: [] }, JSON.stringify(code))
      matches(await t.only('1'), { status: 'queued', attempts: at + 1 })
      equal((await t.only('1')).attemptLog.at(-1)?.outcome, 'retry')
    }
    for (const providerMessageId of harmful) {
      const id = `sent ${harmful.indexOf(providerMessageId)}`
      await t.accept(id, { deliveries: [delivery(id, { channel: 'b' })] })
      const attempt = { outcome: 'sent', providerMessageId } as const
      equal(await t.settleNext({ to: 'sent', attempt }, 'b'), { live: true, others: [] })
      equal(await t.states(id), ['sent'], JSON.stringify(providerMessageId))
    }
    const history = (await t.claimOne()).history.map(({ outcome }) => outcome)
    equal(
      history,
      harmful.map(() => 'retry'),
    )
  },
  'content and traces keep false, empty and null values': async (t) => {
    const content = { a: '', b: 0, c: false, d: null, e: [], f: {} }
    const trace = [{ rule: '==', path: '', expected: '', actual: 0, result: false }]
    await t.accept('1', { deliveries: [delivery('x', { content, trace })] })
    matches((await t.found('1')).deliveries, [{ content, trace }])
  },
})
