import type { Page } from 'sallyport'
import { type Key, nameOf } from './documents.ts'

interface Asked {
  readonly first: 'oldest' | 'newest'
  readonly limit: number
  readonly cursor?: string | undefined
}

/**
 * One page of what fits. The cursor is the place of what it ended with, which is the same for ever and nothing else's: the next
 * page goes on there, whatever has come and gone meanwhile. One that is not ours begins anew.
 */
export function page<T>(
  fitting: readonly T[],
  placeOf: (one: T) => Key,
  { first, limit, cursor = '' }: Asked,
): Page<T> {
  const placed = fitting.map((one) => ({ one, place: nameOf(placeOf(one)) }))
  placed.sort((a, b) => (a.place < b.place ? -1 : 1))
  if (first === 'newest') placed.reverse()
  const isAfter = (place: string): boolean => (first === 'oldest' ? place > cursor : place < cursor)
  const left = /^\d{16}\//.test(cursor) ? placed.filter(({ place }) => isAfter(place)) : placed
  const items = left.slice(0, limit)
  const last = left.length > limit ? items.at(-1)?.place : undefined
  return { items: items.map(({ one }) => one), ...(last !== undefined && { nextCursor: last }) }
}

/** Whether each first is its second, where it is asked for at all. */
export function allAre(...pairs: readonly (readonly [asked: unknown, is: unknown])[]): boolean {
  return pairs.every(([asked, is]) => asked === undefined || asked === is)
}
