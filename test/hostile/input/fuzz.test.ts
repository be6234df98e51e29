import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseKinds } from '../../storage/databases.ts'
import { SEED } from '../../support/properties.ts'
import { barrage } from './barrage.ts'
import { IS_WHOLE, PATIENCE_MS, scale } from './scale.ts'
import { openTestApp, type TestApp } from './test-app.ts'

const requests = scale(4_000)
const SAMPLES = 40
/** Heap growth per request that is allowed in the second half, when the caches are full. */
const MAX_SLOPE = 50
/** Fewer requests do not fill the caches. */
const LEAST_FOR_SLOPE = 50_000

let apps: readonly TestApp[] = []

beforeAll(async () => {
  const kinds = (await databaseKinds()).filter(({ name }) => name === 'sqlite' || name === 'postgresql')
  apps = await Promise.all(kinds.map(async (kind) => openTestApp(await kind.open())))
}, 120_000)

afterAll(async () => {
  for (const app of apps) await app.close()
})

test(
  `${requests} hostile requests of seed ${SEED} get correct answers and leave nothing behind`,
  async () => {
    const heap: (readonly [sent: number, bytes: number])[] = []
    const heapUsed = IS_WHOLE && requests >= LEAST_FOR_SLOPE ? collector() : undefined
    const totals = await barrage({
      apps,
      requests,
      onAnswer({ sent }) {
        if (heapUsed && sent % Math.ceil(requests / SAMPLES) === 0) heap.push([sent, heapUsed()])
      },
    })
    const reported = [totals.statuses, totals.codes].map((counts) =>
      [...counts].sort(([, a], [, b]) => b - a).map(([key, count]) => `${key} ${count}`),
    )
    console.log(
      `seed ${SEED}: ${totals.sent} answered, ${totals.readBack} accepted and read back\n${reported.join('\n').replaceAll(',', ', ')}`,
    )
    expect(totals.readBack).toBeGreaterThan(requests / 20)
    expect(
      Math.min(...[200, 201, 202, 400, 401, 413, 415, 422].map((status) => totals.statuses.get(status) ?? 0)),
    ).toBeGreaterThan(0)
    if (!heapUsed) return
    const slope = slopeOf(heap.slice(heap.length / 2))
    const [first, last] = [heap[0], heap.at(-1)].map((sample) => `${((sample?.[1] ?? 0) / 1e6).toFixed(1)} MB`)
    console.log(`heap: ${first} at first, ${last} at last, ${slope.toFixed(1)} bytes a request over the second half`)
    expect(slope).toBeLessThan(MAX_SLOPE)
  },
  PATIENCE_MS,
)

/** Returns a function that gives the heap size after a garbage collection. */
function collector(): () => number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  return () => {
    collect()
    return process.memoryUsage().heapUsed
  }
}

/** Slope of the least-squares line. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, bytes]) => bytes))]
  const over = points.reduce((sum, [at, bytes]) => sum + (at - x) * (bytes - y), 0)
  return over / points.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
}
