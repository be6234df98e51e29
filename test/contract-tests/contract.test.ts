import { expect, it } from 'vitest'
import { type ContractCase, type ContractSubject, registerCases } from '../../src/contract-tests/contract.ts'

interface Abilities {
  readonly swims?: boolean
  readonly flies?: boolean
}

const BIRD: ContractSubject<Abilities> = { name: 'bird', defaults: { swims: true, flies: false } }

const CASES: readonly ContractCase<{ close?(): void }, Abilities>[] = [
  { name: 'sings', run: async () => {} },
  { name: 'swims', needs: ['swims'], run: async () => {} },
  { name: 'flies', needs: ['flies'], run: async () => {} },
  { name: 'dives', needs: ['swims', 'flies'], run: async () => {} },
]

function registered(capabilities?: Abilities): { tried: string[]; skipped: string[] } {
  const [tried, skipped]: [string[], string[]] = [[], []]
  registerCases('contract', BIRD, CASES, {
    test: (name) => tried.push(name),
    skip: (name) => skipped.push(name),
    create: () => ({}),
    ...(capabilities && { capabilities }),
  })
  return { tried, skipped }
}

it('registerCases skips a case whose capability is neither declared nor the default', () => {
  const noFlies = (name: string): string => `${name} (skipped: the bird declares no flies)`
  expect(registered()).toEqual({ tried: ['sings', 'swims'], skipped: [noFlies('flies'), noFlies('dives')] })
  expect(registered({ flies: true })).toEqual({ tried: ['sings', 'swims', 'flies', 'dives'], skipped: [] })
  expect(registered({ swims: false, flies: true })).toEqual({
    tried: ['sings', 'flies'],
    skipped: ['swims (skipped: the bird declares no swims)', 'dives (skipped: the bird declares no swims)'],
  })
})

it('registerCases registers skipped cases as empty ones without a skip function', async () => {
  const cases = new Map<string, () => Promise<void>>()
  const create = (): never => expect.unreachable()
  registerCases('contract', BIRD, CASES, { test: (name, body) => cases.set(name, body), create })
  await cases.get('flies (skipped: the bird declares no flies)')?.()
  expect(cases.size).toBe(CASES.length)
})

it('registerCases closes each trial after its case, also when the case fails', async () => {
  let closed = 0
  const cases = new Map<string, () => Promise<void>>()
  const fails = { name: 'fails', run: () => Promise.reject(new Error('no')) }
  registerCases('contract', BIRD, [...CASES.slice(0, 1), fails], {
    test: (name, body) => cases.set(name, body),
    create: () => ({
      close() {
        closed += 1
      },
    }),
  })
  await cases.get('sings')?.()
  await expect(cases.get('fails')?.()).rejects.toThrow('no')
  expect(closed).toBe(2)
})
