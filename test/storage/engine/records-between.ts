import type { Kind } from '../../../src/storage/engine/kinds.ts'
import type { Records } from '../../../src/storage/engine/records.ts'

/** Records that call `happen` before each read of a kind. */
function beforeEveryRead(of: Records, kind: Kind, happen: () => Promise<unknown>): Records {
  return {
    ...of,
    async read(wanted) {
      if (wanted.some((one) => one.kind === kind)) await happen()
      return of.read(wanted)
    },
  }
}

/** Records that call it after each read of a kind. */
export function afterEveryRead(of: Records, kind: Kind, happen: () => Promise<unknown>): Records {
  return {
    ...of,
    async read(wanted) {
      const found = await of.read(wanted)
      if (wanted.some((one) => one.kind === kind)) await happen()
      return found
    },
  }
}

/** Records that call it before the first read of a kind. */
export function beforeRead(of: Records, kind: Kind, happen: () => Promise<unknown>): Records {
  return beforeEveryRead(of, kind, once(happen))
}

/** Records that call it after the first read of a kind. */
export function afterRead(of: Records, kind: Kind, happen: () => Promise<unknown>): Records {
  return afterEveryRead(of, kind, once(happen))
}

/** Records that call it before the first commit. */
export function beforeCommit(of: Records, happen: () => Promise<unknown>): Records {
  const first = once(happen)
  return {
    ...of,
    async commit(changes) {
      await first()
      return of.commit(changes)
    },
  }
}

function once(happen: () => Promise<unknown>): () => Promise<void> {
  let isArmed = true
  return async () => {
    if (!isArmed) return
    isArmed = false
    await happen()
  }
}
