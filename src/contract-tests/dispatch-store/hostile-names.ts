import { equal, matches } from '../assertions.ts'
import { digesting } from './digests.ts'
import { walk } from './reading.ts'
import { delivery, HOUR, keyed, LEASE, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf } from './store-harness.ts'

/** Texts of which no two are the same, though one database or another thinks so. */
const ALIKE = [
  ...['a', 'a ', ' a', 'A', 'á', 'a\u0301', 'à', 'ä', 'ae', 'æ', 'ａ', 'a\u200b', 'a\t', 'a\n'],
  ...['ß', 'ss', 'ẞ', 'ı', 'i', 'I', 'İ', '１', '1', '01', '1.0', '💥', '💣', '👩‍👩‍👧', '👩👩👧'],
]

/** Texts that are put together or taken apart wrongly where they are not kept apart from what is around them. */
const SHARP = [
  ...["'", '"', '`', '\\', '\\\\', "\\'", "''", '%', '_', 'a%', 'a_', '*', '?', '[a]', '$1', ':a', '@a', '{a}', '#{a}'],
  ...['--', ';', '/*', '#', '<a>', '&amp;', 'a:b', 'a|b', 'a/b', 'a,b', '\u2028', '\u00a0', '\ufeffa', '\x7f', '\r\n'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__', 'null', 'undefined', 'true', 'NaN'],
]

const TEXTS: readonly string[] = [...ALIKE, ...SHARP]

/** As long as they may be, in text of four bytes each, and different only at the end. */
const LONG: readonly string[] = ['x', 'y', 'X', 'x '].map((end) => `${'💌'.repeat(1_023)}${end.padEnd(2, '.')}`)

/** Visible ASCII of that length, different only at the end. */
function longAscii(length: number): readonly string[] {
  return ['x', 'y', 'X'].map((end) => `${'z'.repeat(length - 1)}${end}`)
}

export function hostileNameCases(): readonly DispatchCase[] {
  return [
    contractCase('recipients are kept as they were sent, and found by nothing else', async (harness) => {
      const recipients = [...TEXTS, ...LONG]
      for (const [at, recipient] of recipients.entries()) {
        await harness.accept(`${at}`, { recipient, deliveries: [delivery(`${at}`, { address: recipient })] })
      }
      for (const [at, recipient] of recipients.entries()) {
        matches(await harness.found(`${at}`), { recipient, deliveries: [{ address: recipient }] })
        equal(await walk(harness, { recipient }), [`${at}`], `found by ${JSON.stringify(recipient.slice(-20))}`)
      }
      equal(await walk(harness, { recipient: 'b' }), [])
    }),

    contractCase('limits whose keys are nearly the same are counted apart', async (harness) => {
      const keys = [...TEXTS, ...LONG.map((key) => key.slice(-512))]
      for (const [at, key] of keys.entries()) {
        const limits = [{ key, max: 1, windowMs: HOUR }]
        await harness.accept(`${at}`, {
          deliveries: [delivery(`${at}`, { limits }), delivery(`${at}+`, { channel: 'b', limits })],
        })
        const states = [...(await harness.states(`${at}`))].sort()
        equal(states, ['queued', 'skipped throttled'], JSON.stringify(key.slice(-20)))
      }
    }),

    contractCase('digests whose keys are nearly the same are kept apart', async (harness) => {
      const post = digesting(harness)
      const keys = [...TEXTS, '', ' ', ...LONG.map((key) => key.slice(-512))]
      for (const [at, key] of keys.entries()) {
        equal(await post(`${at}`, { key }), `${at}-d`, JSON.stringify(key.slice(-20)))
        equal(await post(`${at}+`, { key }), `${at}-d`, JSON.stringify(key.slice(-20)))
      }
    }),

    contractCase('digests for recipients and addresses that are nearly the same are kept apart', async (harness) => {
      const post = digesting(harness)
      for (const [at, text] of [...TEXTS, ...LONG].entries()) {
        equal(await post(`r${at}`, {}, {}, { recipient: text }), `r${at}-d`, JSON.stringify(text.slice(-20)))
        equal(await post(`a${at}`, {}, { address: text }), `a${at}-d`, JSON.stringify(text.slice(-20)))
      }
    }),

    contractCase('where one part of what a digest is of ends is never mistaken', async (harness) => {
      const post = digesting(harness)
      for (const mark of [':', '/', '|', '.', '-', '_', ' ', ',', '#', '"', '\\']) {
        equal(await post(`${mark}1`, { key: 'c' }, { address: `a${mark}b` }), `${mark}1-d`)
        equal(await post(`${mark}2`, { key: `b${mark}c` }, { address: 'a' }), `${mark}2-d`)
      }
    }),

    contractCase('tenants whose names are nearly the same are kept apart', async (harness) => {
      for (const [at, tenant] of TEXTS.entries()) {
        matches(await harness.accept(`${at}`, { ...keyed(), tenant }), { outcome: 'accepted' })
      }
      for (const [at, tenant] of TEXTS.entries()) {
        matches(await harness.found(`${at}`, tenant), { tenant })
        matches(await harness.other.recall(tenant, 'k'), { answer: { dispatchId: `${at}` } })
        equal(await walk(harness, { tenant }), [`${at}`], JSON.stringify(tenant))
      }
    }),

    contractCase('keys, sessions and events of ASCII are kept apart, however long', async (harness) => {
      const keys = ['k', 'K', '%', '_', 'k%', "'", '\\', '__proto__', 'constructor', ...longAscii(255)]
      const sessions = ['s', 'S', '%', '_', "'", '\\', '__proto__', 'constructor', '~', '"', '0', ...longAscii(200)]
      const events = ['e', 'E', '_', 'e_', 'a.b', 'a-b', '__proto__', 'constructor', '0', ...longAscii(256)]
      for (const [at, key] of keys.entries()) {
        const sessionId = sessions[at] ?? ''
        const eventType = events[at] ?? ''
        matches(await harness.accept(`${at}`, { ...keyed(key), sessionId, eventType }), { outcome: 'accepted' }, key)
      }
      for (const [at, key] of keys.entries()) {
        const [sessionId, eventType] = [sessions[at], events[at]]
        matches(await harness.other.recall(TENANT, key), { answer: { dispatchId: `${at}` } })
        equal(await walk(harness, { sessionId }), [`${at}`], sessionId)
        equal(await walk(harness, { eventType }), [`${at}`], eventType)
      }
    }),

    contractCase('channels are told apart by every letter of their names', async (harness) => {
      const channels = ['c', 'C', '_', '.', '-', '__proto__', 'constructor', 'toString', '0', ...longAscii(64)]
      await harness.accept('1', { deliveries: channels.map((channel) => delivery(`of ${channel}`, { channel })) })
      for (const channel of channels) {
        const { deliveries } = await harness.claim(Object.fromEntries([[channel, 9]]))
        equal(
          deliveries.map((one) => [one.channel, one.deliveryId]),
          [[channel, `of ${channel}`]],
          channel,
        )
      }
    }),

    contractCase('receivers are told apart by every letter of their keys', async (harness) => {
      const keys = [...TEXTS, ...LONG.map((key) => key.slice(-512))]
      for (const [at, concurrencyKey] of keys.entries()) {
        await harness.accept(`${at}`, { deliveries: [delivery(`${at}`, { concurrencyKey })] })
      }
      const busy = keys.slice(1).map((concurrencyKey) => ({ channel: 'a', concurrencyKey }))
      const { deliveries } = await harness.store.claim({ limits: { a: 999 }, leaseMs: LEASE, busy })
      matches(deliveries, [{ deliveryId: '0', concurrencyKey: keys[0] }])
      equal(idsOf(await harness.claimAll()), idsOf(keys.slice(1).map((_, at) => ({ deliveryId: `${at + 1}` }))))
    }),

    contractCase('ids may be long, and are told apart to the last character', async (harness) => {
      const ids = [...longAscii(200), '%', '_', "'", '"', '\\', '__proto__', 'constructor']
      for (const id of ids) await harness.accept(id, { deliveries: [delivery(id)] })
      for (const id of ids) {
        matches(await harness.found(id), { dispatchId: id, deliveries: [{ deliveryId: id }] })
      }
      equal((await walk(harness, { limit: 3 })).sort(), ids.toSorted())
      const { deliveries } = await harness.claim({ a: 99 })
      for (const { deliveryId, fence } of deliveries) {
        await harness.store.settle({ deliveryId, fence, to: 'failed', reason: 'channel_error' })
      }
      for (const id of ids) {
        equal(await harness.states(id), ['failed channel_error'])
        matches(await harness.store.retry(TENANT, id, { expiresInMs: HOUR }), { changed: [{ deliveryId: id }] })
      }
    }),
  ]
}
