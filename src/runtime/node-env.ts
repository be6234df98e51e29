/**
 * `NODE_ENV` of the process. `undefined` on runtimes without `process`, and where reading it is not permitted.
 *
 * Reads the global: bundlers replace `process.env.NODE_ENV` in the text, and a host may be built for another environment.
 */
export function nodeEnv(): string | undefined {
  try {
    const { process } = globalThis as { readonly process?: { readonly env?: { readonly NODE_ENV?: unknown } } }
    const value = process?.env?.NODE_ENV
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
