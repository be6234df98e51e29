import { describe, expect, it } from 'vitest'
import { type PolicyQuestion, type SendLimit, type ThrottleOptions, throttle } from '../../src/policies/index.ts'
import { fc } from '../support/properties.ts'
import { question } from './question.ts'

const HOUR = 60 * 60 * 1000

async function limitsOf(
  options: Partial<ThrottleOptions>,
  given?: Partial<PolicyQuestion>,
): Promise<readonly SendLimit[]> {
  const verdict = await throttle({ max: 5, windowMs: HOUR, ...options }).decide(question(given))
  if (verdict.verdict !== 'send') throw new Error(`It said ${verdict.verdict}.`)
  return verdict.limits ?? []
}

async function keyOf(options: Partial<ThrottleOptions>, given?: Partial<PolicyQuestion>): Promise<string | undefined> {
  return (await limitsOf(options, given))[0]?.key
}

describe('throttle', () => {
  it('throttle sends with one limit', async () => {
    expect(await limitsOf({ max: 3, windowMs: 1_000 })).toEqual([
      { key: expect.stringMatching(/^[\da-f]{64}$/), max: 3, windowMs: 1_000 },
    ])
  })

  it('throttle limits critical events too', async () => {
    expect(await limitsOf({}, { critical: true })).toEqual(await limitsOf({}))
  })

  it('throttle ignores other channels and events', async () => {
    expect(await limitsOf({ channels: ['sms', 'push'] })).toEqual([])
    expect(await limitsOf({ events: ['order.paid'] })).toEqual([])
    expect(await limitsOf({ channels: ['email'], events: ['order.paid'] })).toEqual([])
    expect(await limitsOf({ channels: ['sms', 'email'], events: ['order.shipped'] })).toHaveLength(1)
  })

  it('A later change of the lists does not change the throttle', async () => {
    const channels = ['sms']
    const policy = throttle({ max: 1, windowMs: 1, channels })
    channels.push('email')
    expect(await policy.decide(question())).toEqual({ verdict: 'send' })
  })
})

describe('the key of throttle', () => {
  it('throttle counts one event in one channel to one recipient by default', async () => {
    const key = await keyOf({})
    expect(await keyOf({}, { at: 2_000, critical: true, recipient: { id: 'u1', email: 'u@example.com' } })).toBe(key)
    expect(await keyOf({}, { eventType: 'order.paid' })).not.toBe(key)
    expect(await keyOf({}, { channel: 'sms' })).not.toBe(key)
    expect(await keyOf({}, { recipient: { id: 'u2' } })).not.toBe(key)
  })

  it('throttle counts what session tokens cause apart for each session, unless its key says otherwise', async () => {
    const keys = await Promise.all(
      [undefined, 's1', 's2'].map((sessionId) => keyOf({}, sessionId ? { sessionId } : {})),
    )
    expect(new Set(keys).size).toBe(3)
    const byUser: Partial<ThrottleOptions> = { key: ({ recipient }) => recipient.id }
    expect(await keyOf(byUser, { sessionId: 's1' })).toBe(await keyOf(byUser))
  })

  it('Throttle keys differ for names that are equal when joined', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', ',', '"', '\ud800'), minLength: 4, maxLength: 8 })
    const cuts = fc.tuple(fc.nat(2), fc.integer({ min: 3, max: 8 }))
    await fc.assert(
      fc.asyncProperty(text, cuts, cuts, fc.constantFrom(0, 1, 3), async (joined, one, other, gap) => {
        const split = ([first, second]: readonly [number, number]): readonly string[] => [
          joined.slice(0, first),
          joined.slice(first + gap, second),
          joined.slice(second + gap),
        ]
        const triples = [split(one), split(other)]
        const keys = triples.map(([eventType = '', channel = '', id = '']) =>
          keyOf({}, { eventType, channel, recipient: { id } }),
        )
        const [[a, b], [c, d]] = [await Promise.all(keys), triples.map((triple) => JSON.stringify(triple))]
        expect(a === b).toBe(c === d)
      }),
    )
  })

  it('throttle counts messages with one key of the host together', async () => {
    const key = ({ recipient }: PolicyQuestion): string => recipient.id
    const counted = await keyOf({ key })
    expect(await keyOf({ key }, { eventType: 'order.paid', channel: 'sms' })).toBe(counted)
    expect(await keyOf({ key }, { recipient: { id: 'u2' } })).not.toBe(counted)
  })

  it("A host's throttle key never equals a default key", async () => {
    const spelt = JSON.stringify(['order.shipped', 'email', 'u1'])
    expect(await keyOf({ key: () => spelt })).not.toBe(await keyOf({}))
  })

  it.each<[string, Partial<ThrottleOptions>]>([
    ['max', { max: 6 }],
    ['windowMs', { windowMs: 2 * HOUR }],
    ['channels', { channels: ['email'] }],
    ['events', { events: ['order.shipped'] }],
  ])('Throttles with different %s count separately', async (_, options) => {
    const key = (): string => 'k'
    expect(await keyOf({ ...options, key })).not.toBe(await keyOf({ key }))
    expect(await keyOf(options)).not.toBe(await keyOf({}))
  })

  it('Throttle keys differ for a channel and an event with the same name', async () => {
    const given = { eventType: 'email' }
    expect(await keyOf({ channels: ['email'] }, given)).not.toBe(await keyOf({ events: ['email'] }, given))
  })

  it('throttle counts nothing if the host returns no key', async () => {
    expect(await limitsOf({ key: () => undefined })).toEqual([])
  })

  it('A throttle key has up to 512 characters', async () => {
    expect(await keyOf({ key: () => 'k'.repeat(512) })).toHaveLength(64)
    expect(await keyOf({}, { recipient: { id: `https://example.com/${'x'.repeat(2_000)}` } })).toHaveLength(64)
  })

  it.each<[string, unknown]>([
    ['too long', 'secret'.repeat(100)],
    ['empty', ''],
    ['null', null],
    ['a number', 7],
    ['a promise', Promise.resolve('k')],
  ])('throttle throws for a key that is %s without quoting it', async (_, key) => {
    const asked = limitsOf({ key: () => key as string })
    await expect(asked).rejects.toThrow(TypeError)
    await expect(asked).rejects.not.toThrow(/secret/)
  })

  it('throttle rethrows an error of the key function', async () => {
    const down = new Error('down')
    const key = (): string => {
      throw down
    }
    await expect(limitsOf({ key })).rejects.toBe(down)
  })
})

describe('the options of throttle', () => {
  it.each([
    [1, 1],
    [1_000, 31 * 24 * HOUR],
  ])('throttle accepts %i in %i ms', (max, windowMs) => {
    expect(() => throttle({ max, windowMs })).not.toThrow()
  })

  it.each<[string, object]>([
    ['max', { max: 0 }],
    ['max', { max: 1_001 }],
    ['max', { max: 1.5 }],
    ['max', { max: '5' }],
    ['max', { max: undefined }],
    ['windowMs', { windowMs: 0 }],
    ['windowMs', { windowMs: 31 * 24 * HOUR + 1 }],
    ['windowMs', { windowMs: 0.5 }],
    ['windowMs', { windowMs: Number.NaN }],
    ['key', { key: 'recipient.id' }],
    ['channels', { channels: 'email' }],
    ['channels', { channels: [] }],
    ['events', { events: [''] }],
    ['events', { events: [7] }],
  ])('throttle refuses a bad %s', (field, options) => {
    const given = { max: 5, windowMs: HOUR, ...options }
    const problems = [expect.objectContaining({ field: expect.stringContaining(field) })]
    expect(() => throttle(given)).toThrow(expect.objectContaining({ code: 'option_invalid', problems }))
  })

  it('throttle refuses bad options with all problems at once', () => {
    const bad = { max: 0, windowMs: 0, key: 1, channels: [], events: [] } as unknown as ThrottleOptions
    const problems = ['max', 'windowMs', 'key', 'channels', 'events'].map((field) => expect.objectContaining({ field }))
    expect(() => throttle(bad)).toThrow(expect.objectContaining({ problems }))
  })
})
