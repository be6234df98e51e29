/** What may be told of a thrown value. */
export interface DescribedThrown {
  readonly cause: string
  readonly causeCode?: string
}

const NAME = /^[A-Za-z_$][\w$.-]{0,63}$/
/** A word, or a few digits as SQL has them. */
const CODE = /^(?:[A-Za-z_][\w.-]*|\d[\dA-Za-z]{0,7})$/
const MAX_CODE = 64

/**
 * The name and the code of what was thrown, each only where it is written like one: whoever throws may put anything there. Nothing
 * else of it is told, since messages quote. Never throws, whatever a look at it does.
 */
export function describeThrown(thrown: unknown): DescribedThrown {
  try {
    if (!isThrown(thrown, Error)) return unnamed(thrown)
    const name: unknown = thrown.name
    const code = codeOf(thrown)
    return {
      cause: typeof name === 'string' && NAME.test(name) ? name : 'Error',
      ...(code !== undefined && { causeCode: code }),
    }
  } catch {
    return unnamed(thrown)
  }
}

/** Whether that is what was thrown. Unlike `instanceof`, it takes what throws at every touch for something else. */
export function isThrown<Kind>(thrown: unknown, kind: abstract new (...args: never) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}

function unnamed(thrown: unknown): DescribedThrown {
  return { cause: `a thrown ${typeof thrown}` }
}

function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code')
  if (typeof code !== 'string' && typeof code !== 'number') return undefined
  const text = String(code).slice(0, MAX_CODE)
  return CODE.test(text) ? text : undefined
}
