const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a duration such as `30d`, `12h`, `15m` or `90s`. `undefined`: another text. */
export function durationOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 0)
}
