import { randomFillSync, randomInt } from 'node:crypto'
import type { Timings } from './welch.ts'

/** One of two secrets: its verifier and its near misses. */
export interface Side {
  readonly near: readonly string[]
  readonly verify: (input: string) => unknown
}

const PER_BATCH = 500
const WARM_UP = 50

/**
 * Times the near misses of one secret and of another in random order. Each input is near on one side and far on the
 * other, and every batch has new secrets, so that the cost of a text, or of a verifier's place in memory, is equal in
 * both classes.
 */
export async function time(newSide: () => Side, batches: number): Promise<readonly Timings[]> {
  const all: Timings[] = []
  const chance = new Uint8Array((WARM_UP + PER_BATCH) * 2)
  for (let batch = 0; batch < batches; batch++) {
    const sides = [newSide(), newSide()] as const
    const verifiers = [sides[0].verify, sides[1].verify] as const
    const inputs = inputsOf(sides)
    const timings: Timings = { near: [], far: [] }
    all.push(timings)
    randomFillSync(chance)
    for (let index = 0; index < WARM_UP + PER_BATCH; index++) {
      const which = ((chance[index * 2] ?? 0) & 1) as 0 | 1
      const verify = verifiers[which]
      const { text, owner } = inputs[(chance[index * 2 + 1] ?? 0) % inputs.length] ?? { text: '', owner: 0 }
      const start = process.hrtime.bigint()
      await verify(text)
      const took = Number(process.hrtime.bigint() - start)
      const kept = index < WARM_UP ? [] : owner === which ? timings.near : timings.far
      kept.push(took)
    }
  }
  return all
}

/**
 * Near misses of both sides, each copied as one piece, in random order: none may be closer in memory to its own
 * verifier, or be built during its timing.
 */
function inputsOf(sides: readonly [Side, Side]): readonly { readonly text: string; readonly owner: number }[] {
  const all = sides.flatMap(({ near }, owner) => near.map((text) => ({ text, owner })))
  const places = new Map(all.map((input) => [input, randomInt(2 ** 32)]))
  all.sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0))
  return all.map(({ text, owner }) => ({ text: Buffer.from(text, 'latin1').toString('latin1'), owner }))
}
