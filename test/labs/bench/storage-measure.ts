import { loadavg } from 'node:os'
import { median, processorTime, ratios, spread } from './measure.ts'
import type { ServerTime } from './server-time.ts'

/** The result of one measurement. */
export interface Figure {
  readonly perSecond: number
  /** Microseconds of processor time of this process per operation. */
  readonly micros: number
  /** The same of the server's processes, if it was measured. */
  readonly serverMicros?: number
}

/** Operations measured side by side, by name. The first is the base of the ratios. */
export type Sides = Readonly<Record<string, () => Promise<Figure>>>

/** Runs `amount` operations, `places` at a time. */
export async function inFlight(amount: number, places: number, operation: () => Promise<unknown>): Promise<Figure> {
  let left = amount
  async function work(): Promise<void> {
    while (left-- > 0) await operation()
  }
  return figureOf(amount, () => Promise.all(Array.from({ length: places }, work)))
}

/** Measures `amount` operations of `work`. */
export async function figureOf(amount: number, work: () => Promise<unknown>, serverTime?: ServerTime): Promise<Figure> {
  const serverHad = await serverTime?.()
  const [since, hadBefore] = [performance.now(), processorTime()]
  await work()
  const [ms, had] = [performance.now() - since, processorTime() - hadBefore]
  const figure = { perSecond: (amount * 1000) / ms, micros: (had * 1000) / amount }
  if (serverTime === undefined || serverHad === undefined) return figure
  return { ...figure, serverMicros: (((await serverTime()) - serverHad) * 1000) / amount }
}

/** Measures each side in every round, and prints and returns the results. */
export async function sideBySide(title: string, rounds: number, sides: Sides): Promise<Record<string, Figure[]>> {
  const figures = await inTurns(rounds, sides)
  printSides(title, figures)
  return figures
}

/**
 * Runs each side in every round, in turns and in changing order, so that a slow machine slows all of them; the first
 * round is a warm-up.
 */
export async function inTurns<T>(
  rounds: number,
  sides: Readonly<Record<string, () => Promise<T>>>,
): Promise<Record<string, T[]>> {
  const names = Object.keys(sides)
  const results: Record<string, T[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of round % 2 ? Object.entries(sides) : Object.entries(sides).reverse()) {
      const result = await run()
      if (round >= 0) results[name]?.push(result)
    }
  }
  return results
}

/** @param figures The first is the base of the ratios. */
export function printSides(title: string, figures: Readonly<Record<string, readonly Figure[]>>): void {
  console.log(`\n${title}; load ${loadavg()[0]?.toFixed(1)}`)
  const [base = []] = Object.values(figures)
  for (const [name, own] of Object.entries(figures)) {
    const rates = perSecond(own)
    const micros = median(own.map((figure) => figure.micros))
    const shown = own === base ? '' : `   ${spread(ratios(perSecond(base), rates))}`
    const rate = `${median(rates).toFixed(0).padStart(8)}/s ${micros.toFixed(0).padStart(6)} us of processor time`
    console.log(`  ${name.padEnd(44)} ${rate}${serverPart(own)}${shown}`)
  }
}

function serverPart(figures: readonly Figure[]): string {
  const micros = figures.flatMap(({ serverMicros }) => serverMicros ?? [])
  return micros.length === 0 ? '' : ` + ${median(micros).toFixed(0).padStart(4)} us of the server's`
}

function perSecond(figures: readonly Figure[] = []): number[] {
  return figures.map((figure) => figure.perSecond)
}

/** Prints how much processor time the second side takes of the first, round by round. */
export function printProcessorTime(sides: Readonly<Record<string, readonly Figure[]>>): void {
  const [base = [], other = []] = Object.values(sides).map((figures) => figures.map(({ micros }) => micros))
  console.log(`  processor time, second of first: ${spread(ratios(other, base), 3)}`)
}
