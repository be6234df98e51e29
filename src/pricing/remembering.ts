/** Maximum names in the cache: callers choose the names of models. */
const MAX_NAMES = 1_000

/** Caches what `find` returns for a provider and a model. */
export function remembering<T>(
  find: (provider: string | undefined, model: string) => T,
): (provider: string | undefined, model: string) => T {
  const found = new Map<string, T>()
  return (provider, model) => {
    // The length prefix separates the provider from the model.
    const key = provider === undefined ? `:${model}` : `${provider.length}:${provider}${model}`
    const known = found.get(key)
    if (known !== undefined) return known
    const fitting = find(provider, model)
    if (found.size >= MAX_NAMES) found.clear()
    found.set(key, fitting)
    return fitting
  }
}
