import { afterEach, describe, expect, it, vi } from 'vitest'
import { type PolicyQuestion, type QuietHoursOptions, quietHours, type Verdict } from '../../src/policies/index.ts'
import { question } from './question.ts'

const NIGHT: QuietHoursOptions = { from: '22:00', to: '08:00', timeZone: 'Europe/Vienna' }
const SEND = { verdict: 'send' }

function ask(options: Partial<QuietHoursOptions>, at: string, given: Partial<PolicyQuestion> = {}): unknown {
  return quietHours({ ...NIGHT, ...options }).decide(question({ at: Date.parse(at), ...given }))
}

function deferredTo(until: string): Verdict {
  return { verdict: 'defer', until: Date.parse(until), for: 'quiet_hours' }
}

describe('quietHours', () => {
  it('Quiet hours include their first minute and exclude their end', () => {
    const end = deferredTo('2026-01-15T08:00+01:00')
    expect(ask({}, '2026-01-14T21:59:59.999+01:00')).toEqual(SEND)
    expect(ask({}, '2026-01-14T22:00+01:00')).toEqual(end)
    expect(ask({}, '2026-01-15T00:00+01:00')).toEqual(end)
    expect(ask({}, '2026-01-15T07:59:59.999+01:00')).toEqual(end)
    expect(ask({}, '2026-01-15T08:00+01:00')).toEqual(SEND)
  })

  it('Quiet hours may lie within a day or end at midnight', () => {
    const noon = { from: '12:00', to: '13:30' }
    expect(ask(noon, '2026-01-14T12:29:30.500+01:00')).toEqual(deferredTo('2026-01-14T13:30+01:00'))
    expect(ask(noon, '2026-01-14T13:30+01:00')).toEqual(SEND)
    expect(ask({ from: '23:00', to: '00:00' }, '2026-01-14T23:30+01:00')).toEqual(deferredTo('2026-01-15T00:00+01:00'))
  })

  it('Quiet hours follow the time zone of the recipient', () => {
    const recipient = { id: 'u1', timeZone: 'Asia/Kathmandu' }
    expect(ask({}, '2026-01-14T23:00+05:45', { recipient })).toEqual(deferredTo('2026-01-15T08:00+05:45'))
    expect(ask({}, '2026-01-14T23:00+01:00', { recipient })).toEqual(deferredTo('2026-01-15T08:00+05:45'))
    expect(ask({}, '2026-01-15T06:00+01:00', { recipient })).toEqual(SEND)
  })

  it.each(['', 'Mars/Olympus', 'x'.repeat(1_000_000), 'undefined', 7, null])(
    'quietHours uses the zone of its options if the recipient’s is %.20s',
    (timeZone) => {
      const recipient = { id: 'u1', timeZone: timeZone as string }
      expect(ask({}, '2026-01-14T23:00+01:00', { recipient })).toEqual(deferredTo('2026-01-15T08:00+01:00'))
    },
  )

  it('Quiet hours let critical events pass', () => {
    expect(ask({}, '2026-01-14T23:00+01:00', { critical: true })).toEqual(SEND)
  })

  it('Quiet hours hold for the named channels only', () => {
    const channels = ['sms', 'push']
    expect(ask({ channels }, '2026-01-14T23:00+01:00')).toEqual(SEND)
    expect(ask({ channels }, '2026-01-14T23:00+01:00', { channel: 'push' })).toEqual(
      deferredTo('2026-01-15T08:00+01:00'),
    )
  })

  it('Quiet hours begin on the named days and end on the next', () => {
    const friday = { days: [5] }
    expect(ask(friday, '2026-01-16T07:00+01:00')).toEqual(SEND)
    expect(ask(friday, '2026-01-16T22:00+01:00')).toEqual(deferredTo('2026-01-17T08:00+01:00'))
    expect(ask(friday, '2026-01-17T07:00+01:00')).toEqual(deferredTo('2026-01-17T08:00+01:00'))
    expect(ask(friday, '2026-01-17T22:00+01:00')).toEqual(SEND)
  })

  it('Quiet hours begin on a Sunday, day 7', () => {
    expect(ask({ days: [7] }, '2026-01-18T23:00+01:00')).toEqual(deferredTo('2026-01-19T08:00+01:00'))
    expect(ask({ days: [1, 2, 3, 4, 5, 6] }, '2026-01-18T23:00+01:00')).toEqual(SEND)
  })

  it('quietHours throws for an invalid time', () => {
    expect(() => ask({}, 'never')).toThrow(RangeError)
  })
})

describe('when clocks go forward', () => {
  it('The end comes an hour sooner when clocks go forward', () => {
    expect(ask({}, '2026-03-28T23:00+01:00')).toEqual(deferredTo('2026-03-29T08:00+02:00'))
  })

  it('A quiet-hours end within the gap is the first instant after the gap', () => {
    expect(ask({ to: '02:30' }, '2026-03-29T01:00+01:00')).toEqual(deferredTo('2026-03-29T03:00+02:00'))
  })

  it('A quiet-hours end on a skipped day is the start of the next day', () => {
    const recipient = { id: 'u1', timeZone: 'Pacific/Apia' }
    const asked = ask({ days: [4] }, '2011-12-29T23:00-10:00', { recipient })
    expect(asked).toEqual(deferredTo('2011-12-31T00:00+14:00'))
  })

  it('Two windows of quiet hours become one if the time between them is skipped', () => {
    const recipient = { id: 'u1', timeZone: 'America/Havana' }
    const asked = ask({ from: '00:30', to: '00:00' }, '2025-03-08T22:00-05:00', { recipient })
    expect(asked).toEqual(deferredTo('2025-03-10T00:00-04:00'))
  })
})

describe('when clocks go back', () => {
  it('The end comes an hour later when clocks go back', () => {
    expect(ask({}, '2026-10-24T23:00+02:00')).toEqual(deferredTo('2026-10-25T08:00+01:00'))
  })

  it('A quiet-hours end that occurs twice is its last occurrence', () => {
    const end = deferredTo('2026-10-25T02:30+01:00')
    expect(ask({ to: '02:30' }, '2026-10-25T01:00+02:00')).toEqual(end)
    expect(ask({ to: '02:30' }, '2026-10-25T02:30+02:00')).toEqual(end)
    expect(ask({ to: '02:30' }, '2026-10-25T02:59+02:00')).toEqual(end)
    expect(ask({ to: '02:30' }, '2026-10-25T02:10+01:00')).toEqual(end)
    expect(ask({ to: '02:30' }, '2026-10-25T02:30+01:00')).toEqual(SEND)
  })

  it('A quiet-hours start that occurs twice is its first occurrence', () => {
    const end = deferredTo('2026-10-25T08:00+01:00')
    expect(ask({ from: '02:30' }, '2026-10-25T02:29+02:00')).toEqual(SEND)
    expect(ask({ from: '02:30' }, '2026-10-25T02:30+02:00')).toEqual(end)
    expect(ask({ from: '02:30' }, '2026-10-25T02:00+01:00')).toEqual(end)
  })

  it('Quiet hours within the repeated hour last from the first start to the last end', () => {
    const short = { from: '02:10', to: '02:20' }
    const end = deferredTo('2026-10-25T02:20+01:00')
    for (const at of ['02:10+02:00', '02:40+02:00', '02:00+01:00', '02:19+01:00'])
      expect(ask(short, `2026-10-25T${at}`)).toEqual(end)
    expect(ask(short, '2026-10-25T02:09+02:00')).toEqual(SEND)
    expect(ask(short, '2026-10-25T02:20+01:00')).toEqual(SEND)
  })

  it('A quiet-hours end at the change is its second occurrence', () => {
    expect(ask({ to: '03:00' }, '2026-10-25T01:00+02:00')).toEqual(deferredTo('2026-10-25T03:00+01:00'))
  })

  it('A quiet-hours start at the change is its second occurrence', () => {
    expect(ask({ from: '03:00' }, '2026-10-25T02:00+01:00')).toEqual(SEND)
  })
})

describe('the cache of time zones', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('The cache of time zones creates each zone once and holds at most 200', () => {
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 200)
    const { DateTimeFormat } = Intl
    const made = vi.spyOn(Intl, 'DateTimeFormat').mockImplementation(function make(...given) {
      return new DateTimeFormat(...given)
    })
    const policy = quietHours(NIGHT)
    const madeFor = (...names: readonly string[]): number => {
      made.mockClear()
      for (const timeZone of names) policy.decide(question({ recipient: { id: 'u1', timeZone } }))
      return made.mock.calls.length
    }
    const [first = '', second = '', ...others] = zones
    expect(madeFor(first, first, second, first, 'Mars/Olympus', 'Mars/Olympus')).toBe(3)
    expect(madeFor('x'.repeat(65))).toBe(0)
    expect(madeFor(...others.slice(0, 197))).toBe(197)
    expect(madeFor(first, second)).toBe(0)
    expect(madeFor(...others.slice(197))).toBe(1)
    expect(madeFor(second)).toBe(0)
    expect(madeFor(first)).toBe(1)
  })
})

describe('the options of quietHours', () => {
  it.each<[string, object]>([
    ['from', { from: '24:00' }],
    ['from', { from: '9:00' }],
    ['from', { from: '22:60' }],
    ['from', { from: '22:00:00' }],
    ['from', { from: undefined }],
    ['to', { to: 800 }],
    ['to', { to: '08:00\n' }],
    ['to', { to: '22:00' }],
    ['timeZone', { timeZone: undefined }],
    ['timeZone', { timeZone: '' }],
    ['timeZone', { timeZone: 'Mars/Olympus' }],
    ['channels', { channels: [] }],
    ['channels', { channels: 'email' }],
    ['days', { days: [] }],
    ['days', { days: [0] }],
    ['days', { days: [8] }],
    ['days', { days: [1.5] }],
    ['days', { days: ['1'] }],
    ['days', { days: 5 }],
  ])('quietHours refuses a bad %s: %j', (field, options) => {
    const problems = [expect.objectContaining({ field: expect.stringContaining(field) })]
    expect(() => quietHours({ ...NIGHT, ...options })).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems }),
    )
  })

  it('quietHours refuses bad options with all problems at once', () => {
    const bad: QuietHoursOptions = { from: '', to: '', timeZone: '', channels: [], days: [] }
    const problems = ['from', 'to', 'timeZone', 'channels', 'days'].map((field) => expect.objectContaining({ field }))
    expect(() => quietHours(bad)).toThrow(expect.objectContaining({ problems }))
  })
})
