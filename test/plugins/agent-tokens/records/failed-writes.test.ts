import { expect, it } from 'vitest'
import { fakeClock } from '../../../../src/contract-tests/fake-clock.ts'
import { type NewTokenUse, tokenUseRecords } from '../../../../src/plugins/agent-tokens/token-use-records.ts'
import { documentStore } from '../../../../src/storage/documents/index.ts'
import { mapDocuments } from '../../../storage/documents/map-documents.ts'

const uses = (count: number): readonly NewTokenUse[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ useId: `u${at}`, jti: 'token', tenant: 't', sessionId: 's', operation: 'dispatch', outcome: 'accepted' },
    ...{ times: 1, agoMs: at },
  }))

/** A store on documents whose commits fail from some call on, before or after they are made. */
function failing() {
  const clock = fakeClock()
  const documents = mapDocuments(clock)
  const state = { commitsLeft: Number.POSITIVE_INFINITY, isMade: false }
  const stored = documentStore({
    ...documents,
    async commit(changes) {
      if (state.commitsLeft-- > 0) return documents.commit(changes)
      if (state.isMade) await documents.commit(changes)
      throw new Error('the connection was lost')
    },
  })
  const store = tokenUseRecords(stored)
  const ids = async () => (await store.list({ tenant: 't', limit: 500 })).items.map(({ useId }) => useId)
  return { clock, state, store, ids }
}

it('A failed call stores none of its uses, wherever it fails, and its repetition stores each of them once', async () => {
  for (const commitsLeft of [0, 1, 2]) {
    const { clock, state, store, ids } = failing()
    state.commitsLeft = commitsLeft
    const failed = await store.record(uses(250)).then(
      () => false,
      () => true,
    )
    expect(await ids()).toHaveLength(failed ? 0 : 250)
    state.commitsLeft = Number.POSITIVE_INFINITY
    clock.advance(5)
    await store.record(uses(250))
    expect(new Set(await ids()).size).toBe(250)
    expect(await ids()).toHaveLength(250)
  }
})

it('A call that was stored without an answer may be repeated', async () => {
  const { clock, state, store, ids } = failing()
  Object.assign(state, { commitsLeft: 0, isMade: true })
  await expect(store.record(uses(100))).rejects.toThrow('the connection was lost')
  Object.assign(state, { commitsLeft: Number.POSITIVE_INFINITY })
  clock.advance(5)
  await store.record(uses(100))
  expect(await ids()).toEqual(uses(100).map(({ useId }) => useId))
})
