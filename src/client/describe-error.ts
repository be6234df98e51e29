/** What was thrown, as a run tells it. Does not throw, whatever that is. */
export function describeError(thrown: unknown): { type: string; message?: string; code?: string | undefined } {
  try {
    const { name, message = thrown, code }: Partial<Record<string, unknown>> = Object(thrown)
    return {
      type: cut(name || 'Error', 100),
      message: cut(message, 2000),
      code: typeof code === 'string' ? cut(code, 100) : undefined,
    }
  } catch {
    return { type: 'Error' }
  }
}

/** No half of a surrogate pair is left. */
function cut(text: unknown, max: number): string {
  return String(text).slice(0, max).toWellFormed()
}
