import { expect, it } from 'vitest'
import { databaseKinds } from './databases.ts'
import { describeReads, type ReadOfName } from './odd-names.ts'

/** Every read with each argument that names stored data, and the name that its error must contain. */
const READS: readonly ReadOfName[] = [
  ['dispatches.get', 'dispatchId', (host, value) => host.dispatches.get(value)],
  ['dispatches.cancel', 'dispatchId', (host, value) => host.dispatches.cancel(value)],
  ['dispatches.retry', 'dispatchId', (host, value) => host.dispatches.retry(value)],
  ['dispatches.retry', 'channel', (host, value) => host.dispatches.retry('d1', { channel: value })],
  ['dispatches.list', 'sessionId', (host, value) => host.dispatches.list({ sessionId: value })],
  ['dispatches.list', 'eventType', (host, value) => host.dispatches.list({ eventType: value })],
  ['dispatches.list', 'recipient', (host, value) => host.dispatches.list({ recipient: value })],
  ['runs.get', 'runId', (host, value) => host.runs.get({ sessionId: 's1', runId: value })],
  ['runs.get', 'sessionId', (host, value) => host.runs.get({ sessionId: value, runId: 'r1' })],
  ...['sessionId', 'provider', 'model', 'userId', 'tag'].flatMap((name): ReadOfName[] => [
    ['runs.list', name, (host, value) => host.runs.list({ [name]: value })],
    ['runs.export', name, async (host, value) => host.runs.export({ [name]: value })],
  ]),
  ['runs.erase', 'sessionId', (host, value) => host.runs.erase({ sessionId: value })],
  ['runs.erase', 'userId', (host, value) => host.runs.erase({ userId: value })],
  ['sessions.get', 'sessionId', (host, value) => host.sessions.get(value)],
  ['sessions.tree', 'sessionId', (host, value) => host.sessions.tree(value)],
  ['sessions.timeline', 'sessionId', (host, value) => host.sessions.timeline(value)],
]

describeReads(READS, await databaseKinds(), (open) => {
  it('Reads accept ids with unusual characters', async () => {
    const host = await open()
    for (const id of ['x'.repeat(2_048), "'; drop table x", '😀', '\u0001', '%', '\\']) {
      expect(await host.dispatches.get(id)).toBeUndefined()
      expect(await host.runs.get({ sessionId: id, runId: id })).toBeUndefined()
      expect((await host.dispatches.list({ recipient: id })).items).toEqual([])
      expect((await host.runs.list({ tag: id })).items).toEqual([])
    }
  })
})
