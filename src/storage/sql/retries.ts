import { Conflict } from './database.ts'
import { pause } from './pause.ts'

/** So often something is tried again: every time because another did succeed. */
const TRIES = 100

/** Does it again from the start for as long as others come in between. */
export async function untilWritten<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (cause) {
      if (!(cause instanceof Conflict) || tries >= TRIES) throw cause
      await pause(tries)
    }
  }
}
