/** A function to call repeatedly. */
export type Task = () => unknown

/**
 * Processor time of this process in milliseconds, garbage collector included. Other load on the machine matters little,
 * and no measured task waits.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Calls of `task` per second of processor time, over at least `ms` milliseconds. */
export async function rate(task: Task, ms: number): Promise<number> {
  let calls = 0
  const start = processorTime()
  let elapsed = 0
  while (elapsed < ms) {
    for (let index = 0; index < 200; index++) await task()
    calls += 200
    elapsed = processorTime() - start
  }
  return (calls * 1000) / elapsed
}

const ROUNDS = 15
const MS = 150

/**
 * The rate of each task in every round. Tasks take turns, so that a slow machine slows all of them; the first round is
 * a warm-up. `prepare` runs before each turn and is not measured.
 */
export async function ratesInTurns<Name extends string>(
  tasks: Readonly<Record<Name, Task>>,
  prepare: () => void,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(tasks) as Name[]
  const rates = Object.fromEntries(names.map((name): [Name, number[]] => [name, []])) as Record<Name, number[]>
  for (let round = -1; round < ROUNDS; round++) {
    for (const name of names) {
      prepare()
      const perSecond = await rate(tasks[name], round < 0 ? MS / 2 : MS)
      if (round >= 0) rates[name].push(perSecond)
    }
  }
  return rates
}

/** The ratios, round by round. */
export function ratios(values: readonly number[], bases: readonly number[]): number[] {
  return values.map((value, round) => value / (bases[round] ?? Number.NaN))
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

export function spread(values: readonly number[], digits = 2): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return `${median(values).toFixed(digits)} (${low.toFixed(digits)}-${high.toFixed(digits)})`
}

/** `name`, calls per second and microseconds per call. */
export function rateLine(name: string, rates: readonly number[]): string {
  const perSecond = median(rates)
  const micros = (1e6 / perSecond).toFixed(1)
  return `  ${name.padEnd(34)} ${perSecond.toFixed(0).padStart(9)}/s ${micros.padStart(7)} us`
}

/** @param share From 0 to 1. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
