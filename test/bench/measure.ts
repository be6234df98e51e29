/** Calls per second of `task`, over at least `ms` milliseconds. */
export async function rate(task: () => Promise<unknown>, ms: number): Promise<number> {
  let calls = 0
  const start = performance.now()
  let elapsed = 0
  while (elapsed < ms) {
    for (let index = 0; index < 200; index++) await task()
    calls += 200
    elapsed = performance.now() - start
  }
  return (calls * 1000) / elapsed
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

export function spread(values: readonly number[], digits = 2): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return `${median(values).toFixed(digits)} (${low.toFixed(digits)}-${high.toFixed(digits)})`
}
