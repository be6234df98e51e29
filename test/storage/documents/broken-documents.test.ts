import { AssertionError } from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { dispatchStoreContract } from '../../../src/contract-tests/dispatch-store-contract.ts'
import { documentsContract } from '../../../src/contract-tests/documents-contract.ts'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { type DocumentChange, type Documents, documentStore } from '../../../src/storage/documents/index.ts'
import { mapDocuments } from './map-documents.ts'

/** Documents with a bug, the guarantee that the bug breaks, and a case of the dispatch store contract that must fail too. */
interface Broken {
  readonly where: string
  readonly names: RegExp
  readonly fails: string
  plant(documents: Documents): Partial<Documents>
}

const isWrite = ({ before, after }: DocumentChange): boolean => before !== after

const BROKEN: readonly Broken[] = [
  {
    where: 'commit returns true and writes nothing',
    names: /a commit that resolves to true has written all its changes/,
    fails: 'a leased delivery is not claimed again',
    plant: () => ({ commit: async () => true }),
  },
  {
    where: 'commit loses the first of several writes',
    names: /a commit that resolves to true has written all its changes/,
    fails: 'a leased delivery is not claimed again',
    plant: ({ commit }) => ({
      commit(changes) {
        const [lost, ...others] = changes.filter(isWrite)
        return commit(others.length > 0 ? changes.filter((change) => change !== lost) : changes)
      },
    }),
  },
  {
    where: 'commit compares nothing',
    names: /a commit compares every document with its text before/,
    fails: 'of a hundred concurrent posts of one key exactly one is accepted',
    plant: ({ get, commit }) => ({
      async commit(changes) {
        for (;;) {
          const writes = changes.filter(isWrite).map(async (change) => ({ ...change, before: await get(change.key) }))
          if (await commit(await Promise.all(writes))) return true
        }
      },
    }),
  },
  {
    where: 'commit does not compare documents that are only read',
    names: /a commit compares every document with its text before/,
    fails: '',
    plant: ({ commit }) => ({ commit: (changes) => commit(changes.filter(isWrite)) }),
  },
  {
    where: 'commit writes one document after another',
    names: /a commit that resolves to false has changed nothing/,
    fails: '',
    plant: ({ commit }) => ({
      async commit(changes) {
        for (const change of changes) if (!(await commit([change]))) return false
        return true
      },
    }),
  },
  {
    where: 'get returns a text that was not stored',
    names: /a commit that resolves to true has written all its changes|get gives what was committed/,
    fails: 'a leased delivery is not claimed again',
    plant: ({ get }) => ({ get: async (key) => (await get(key))?.replace(/\d/, '0') }),
  },
  {
    where: 'get trims texts',
    names: /get gives what was committed/,
    fails: '',
    plant: ({ get }) => ({ get: async (key) => (await get(key))?.replaceAll(' "', '"') }),
  },
  {
    where: 'list lags behind commits',
    names: /a commit that resolves to true has written all its changes/,
    fails: '',
    plant: ({ list }) => {
      const seen = new Map<string, ReturnType<Documents['list']>>()
      return {
        async list(prefix, range) {
          const before = seen.get(prefix)
          seen.set(prefix, list(prefix, range))
          return before ?? []
        },
      }
    },
  },
]

/** The errors of the cases that fail, by name. */
async function failures(register: (test: (name: string, body: () => Promise<void>) => void) => void) {
  const cases = new Map<string, () => Promise<void>>()
  register((name, body) => void cases.set(name, body))
  const failed = new Map<string, Error>()
  for (const [name, body] of cases) await body().catch((error) => void failed.set(name, error))
  return failed
}

function failuresOfDocuments(plant: Broken['plant']) {
  return failures((test) =>
    documentsContract({
      test,
      create() {
        const documents = mapDocuments(Date)
        const broken = { ...documents, ...plant(documents) }
        return { documents: broken, other: broken }
      },
    }),
  )
}

describe('documentsContract', () => {
  it('documentsContract passes on documents without a bug', async () => {
    expect((await failuresOfDocuments(() => ({}))).size).toBe(0)
  })

  it.each(BROKEN)('documentsContract names the broken guarantee where $where', async ({ names, plant }) => {
    const failed = [...(await failuresOfDocuments(plant)).values()]
    const named = failed.filter((error) => error instanceof AssertionError && names.test(error.message))
    expect(named).not.toEqual([])
    for (const { message } of named) expect(message).toMatch(/^Broken guarantee: /)
  })
})

describe('dispatchStoreContract', () => {
  it.each(BROKEN.filter(({ fails }) => fails !== ''))(
    'The dispatch store contract fails over documents where $where',
    async ({ fails, plant }) => {
      const failed = await failures((test) =>
        dispatchStoreContract({
          test: (name, body) => name === fails && test(name, body),
          create() {
            const clock = fakeClock()
            const documents = mapDocuments(clock)
            const open = () => documentStore({ ...documents, ...plant(documents) })
            return { store: open(), other: open(), now: clock.now, advance: clock.advance }
          },
        }),
      )
      expect([...failed.keys()]).toEqual([fails])
    },
  )
})
