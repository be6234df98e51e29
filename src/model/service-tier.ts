/** The service tier of a provider's standard price. */
export const STANDARD_TIER = 'standard'

/** Other names of {@link STANDARD_TIER}. */
const STANDARD_NAMES = new Set(['', 'default', 'on_demand', 'unspecified', 'global', 'not_available'])
/** Members of usage objects that choose the price list: Anthropic's place and speed do, too. */
const KEYS = ['service_tier', 'serviceTier', 'trafficType', 'traffic_type', 'speed', 'inference_geo']

/**
 * Returns a service tier under one name, in lower case: `standard` for `default`, `on_demand` and the like, `flex` for
 * `ON_DEMAND_FLEX`.
 */
export function tierNamed(name: string): string {
  const tier = name.toLowerCase().replace(/^on_demand_/, '')
  return STANDARD_NAMES.has(tier) ? STANDARD_TIER : tier
}

/** Reads the service tier of a usage object; `other` if it is unreadable, so that it does not pass for the standard one. */
export function tierOf(usage: Readonly<Record<string, unknown>>): string | undefined {
  const given = KEYS.map((key) => usage[key] ?? undefined).filter((tier) => tier !== undefined)
  if (given.length === 0) return undefined
  const named = given.map((tier) =>
    typeof tier === 'string' && /^[\w.-]{0,32}$/.test(tier) ? tierNamed(tier) : 'other',
  )
  return [...new Set(named)].filter((tier) => tier !== STANDARD_TIER).join(' ') || STANDARD_TIER
}
