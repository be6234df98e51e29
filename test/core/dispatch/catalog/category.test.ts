import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { problems } from './catalog-problems.ts'

const channels = { a: { text: () => 'x' } }

describe('the category of an event', () => {
  it('An event has the category of its definition, by default its own type', () => {
    const events = defineEvents({
      'digest.weekly': { category: 'newsletter', channels },
      'digest.monthly': { category: 'newsletter', channels },
      'order.shipped': { channels },
    })
    expect(events.eventTypes.map((eventType) => events.find(eventType)?.category)).toEqual([
      'newsletter',
      'newsletter',
      'order.shipped',
    ])
  })

  it.each(['n', 'A.b_c-9', 'x'.repeat(100)])('A category can be %s', (category) => {
    expect(problems({ e: { category, channels } })).toEqual([])
  })

  it.each([
    ['a space', 'news letter'],
    ['no character', ''],
    ['101 characters', 'x'.repeat(101)],
    ['a line break', 'news\n'],
    ['a number', 5],
  ])('defineEvents reports a category with %s', (_, category) => {
    expect(problems({ e: { category, channels } })).toEqual([
      { event: 'e', field: 'category', detail: expect.stringContaining('must be 1-100 of A-Z a-z 0-9 . _ -') },
    ])
  })
})
