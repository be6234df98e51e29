import { AssertionError } from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { dispatchStoreContract } from '../../../src/contract-tests/dispatch-store-contract.ts'
import { documentsContract } from '../../../src/contract-tests/documents-contract.ts'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { type DocumentChange, type Documents, documentStore } from '../../../src/storage/documents/index.ts'
import { mapDocuments } from './map-documents.ts'

/** Documents with a fault, the guarantee that it breaks, and a case of the contract of dispatches that it fails too. */
interface Broken {
  readonly where: string
  readonly names: RegExp
  readonly fails: string
  plant(documents: Documents): Partial<Documents>
}

const isWrite = ({ before, after }: DocumentChange): boolean => before !== after

const BROKEN: readonly Broken[] = [
  {
    where: 'commit says true and writes nothing',
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
    where: 'commit compares nothing that is only read',
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
    where: 'get gives what was not stored',
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
    where: 'list comes later than commits',
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

/** What each case of a contract failed with. */
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

describe('the contract of documents', () => {
  it('is kept by documents with no fault', async () => {
    expect((await failuresOfDocuments(() => ({}))).size).toBe(0)
  })

  it.each(BROKEN)('names the guarantee that is broken where $where', async ({ names, plant }) => {
    const failed = [...(await failuresOfDocuments(plant)).values()]
    expect(failed.filter((error) => error instanceof AssertionError && names.test(error.message))).not.toEqual([])
  })
})

describe('the contract of dispatches', () => {
  it.each(BROKEN.filter(({ fails }) => fails !== ''))('fails over documents where $where', async ({ fails, plant }) => {
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
  })
})
