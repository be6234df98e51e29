/** A place in a list that is in order of time, and of ids where times are equal. */
export interface KeysetPosition {
  readonly at: number
  readonly id: string
}

export function cursorOf(at: number, id: string): string {
  return `${at} ${id}`
}

/** `undefined`: there is no cursor, or it is none of ours, and the list is read from its beginning. */
export function positionOf(cursor: string | undefined): KeysetPosition | undefined {
  const [, at, id] = /^(\d{1,16}) (.+)$/s.exec(cursor ?? '') ?? []
  return at === undefined || id === undefined ? undefined : { at: Number(at), id }
}
