import { afterAll, describe, expect, it } from 'vitest'
import type { Sallyport } from '../../src/compose/create-sallyport.ts'
import { isSallyportError } from '../../src/errors.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { exampleHost } from '../openapi/host.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import type { databaseKinds } from './databases.ts'

const ODD: Readonly<Record<string, unknown>> = {
  'a NUL': 'a\0b',
  'the first half of a surrogate pair': 'a\ud83d',
  'the second half of one': '\ude00a',
  'more than 2,048 characters': 'x'.repeat(2_049),
  nothing: '',
  'a number': 7,
  null: null,
}

/** A read with an argument that names stored data, and the name that its error must contain. */
export type ReadOfName<Api extends object = object> = readonly [
  call: string,
  name: string,
  read: (host: Sallyport & Api, value: never) => unknown,
]

type Open<Api extends object> = () => Promise<Sallyport & Api>

/**
 * Describes, in memory and for every kind of database that is there, reads that refuse odd names.
 *
 * @param more Further tests of the same host.
 */
export function describeReads<Api extends object = object>(
  reads: readonly ReadOfName<Api>[],
  kinds: Awaited<ReturnType<typeof databaseKinds>>,
  more: (open: Open<Api>) => void = () => {},
): void {
  const hostOf = (store: ReturnType<typeof memoryStore>) =>
    exampleHost({ store }).sallyport as unknown as Sallyport & Api

  function testReads(open: Open<Api>): void {
    it.each(reads)('%s refuses invalid values of %s before it calls the store', async (call, name, read) => {
      const host = await open()
      for (const [what, value] of Object.entries(ODD)) {
        const thrown: unknown = await Promise.resolve(value)
          .then((given) => read(host, given as never))
          .then(
            () => undefined,
            (error) => error,
          )
        expect(isSallyportError(thrown) && [thrown.code, thrown.message.includes(name)], `${call} ${what}`).toEqual([
          'option_invalid',
          true,
        ])
      }
    })

    more(open)
  }

  describe('reads of odd names in memory', () => testReads(async () => hostOf(memoryStore())))

  for (const kind of kinds)
    describe.skipIf(kind.absent)(`reads of odd names on ${kind.name}`, async () => {
      const database = kind.absent ? undefined : await kind.open()
      afterAll(() => database?.close())
      let host: (Sallyport & Api) | undefined
      testReads(async () => {
        if (!database) throw new TypeError('there is no database')
        if (host) return host
        const store = sqlStore({ db: database.connect(), dialect: database.dialect, timeoutMs: UNHURRIED_MS })
        await store.migrate()
        host = hostOf(store)
        return host
      })
    })
}
