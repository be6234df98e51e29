import type { DocumentChange, DocumentRange, Documents } from '../ports/documents.ts'
import { equal, ok } from './assertions.ts'
import {
  type CaseTable,
  type ContractCase,
  type ContractOptions,
  casesOf,
  registerCases,
  STORE,
  type StoreCapabilities,
} from './contract.ts'

/** Empty documents for one case. No other code may write to them. */
export interface DocumentsTrial {
  readonly documents: Documents
  /** A second handle on the same documents, as in another process. Omit it if there is only one. */
  readonly other?: Documents
  /** Opens the same documents again, as a process that starts later. Omit it if they do not last that long. */
  reopen?(): Documents | Promise<Documents>
  /** Releases the documents after the case, also after a failure. */
  close?(): void | Promise<void>
}

/** Options of {@link documentsContract}. */
export interface DocumentsContractOptions extends ContractOptions {
  /** Returns empty documents for each case. */
  readonly create: () => DocumentsTrial | Promise<DocumentsTrial>
  readonly capabilities?: StoreCapabilities
}

const LOST = 'a commit that resolves to true has written all its changes'
const UNTOUCHED = 'a commit that resolves to false has changed nothing'
const COMPARED = 'a commit compares every document with its text before'

/** A key of the maximum length. */
const LONG_KEY = `long/${'k'.repeat(395)}`
const TEXTS = [
  ...['"a"', '"A "', '" "', '"é"', '"e\u0301"', '"💌"'],
  ...['"\\u0000"', '"\\\\"', '{"__proto__":1}', `"${'x'.repeat(300_000)}"`],
]

/** Keys in ASCII order. */
const SORTED = ['k-', 'k.', 'k/', 'k/0', 'k/00', 'k/1', 'k/a', 'k/a/b', 'k0', 'k_', 'ka'].map((key) => `sorted/${key}`)

const create = (key: string, after = '1'): DocumentChange => ({ key, before: undefined, after })

async function keysOf(documents: Documents, prefix: string, range: Partial<DocumentRange> = {}): Promise<string[]> {
  return (await documents.list(prefix, { limit: 100, ...range })).map(({ key }) => key)
}

/** `other` is the same handle if there is only one. */
type Handles = DocumentsTrial & { readonly other: Documents }

function documentsCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<Handles>,
): readonly ContractCase<DocumentsTrial>[] {
  return casesOf<Handles, StoreCapabilities>(needs, table).map(({ run, ...rest }) => ({
    ...rest,
    run: (trial) => run({ ...trial, other: trial.other ?? trial.documents }),
  }))
}

const CASES: readonly ContractCase<DocumentsTrial>[] = [
  ...documentsCases([], {
    'a committed document is visible to get and list at once, through every handle': async (t) => {
      equal(await t.documents.get('a/1'), undefined)
      ok(await t.documents.commit([create('a/1'), create('a/2', '2')]), 'a commit without a conflict resolves to true')
      for (const handle of [t.documents, t.other]) {
        equal([await handle.get('a/1'), await handle.get('a/2')], ['1', '2'], LOST)
        equal(
          await handle.list('a/', { limit: 9 }),
          [
            { key: 'a/1', text: '1' },
            { key: 'a/2', text: '2' },
          ],
          LOST,
        )
      }
      ok(
        await t.other.commit([
          { key: 'a/1', before: '1', after: '3' },
          { key: 'a/2', before: '2', after: undefined },
        ]),
        COMPARED,
      )
      for (const handle of [t.documents, t.other]) {
        equal([await handle.get('a/1'), await handle.get('a/2')], ['3', undefined], LOST)
        equal(await keysOf(handle, 'a/'), ['a/1'], LOST)
      }
    },
    'get and list return exactly the committed text': async (t) => {
      const changes = [...TEXTS.map((text, at) => create(`t/${at}`, text)), create(LONG_KEY)]
      ok(await t.documents.commit(changes), 'a commit without a conflict resolves to true')
      for (const { key, after } of changes) equal(await t.other.get(key), after, 'get gives what was committed')
      for (const { key, text } of await t.other.list('t/', { limit: 99 }))
        equal(text, TEXTS[Number(key.slice(2))], 'list gives what was committed')
    },
    'a commit with one conflict changes nothing': async (t) => {
      await t.documents.commit([create('a', '1'), create('b', '1')])
      const conflicts: readonly DocumentChange[] = [
        { key: 'a', before: '2', after: '3' },
        { key: 'a', before: '2', after: '2' },
        { key: 'a', before: '2', after: undefined },
        create('a', '3'),
        { key: 'c', before: '1', after: '3' },
        { key: 'a', before: undefined, after: undefined },
      ]
      for (const conflict of conflicts) {
        equal(
          await t.documents.commit([{ key: 'b', before: '1', after: '9' }, conflict, create('new')]),
          false,
          COMPARED,
        )
        const found = [await t.other.get('a'), await t.other.get('b'), await t.other.get('c'), await t.other.get('new')]
        equal(found, ['1', '1', undefined, undefined], UNTOUCHED)
        equal(await keysOf(t.other, ''), ['a', 'b'], UNTOUCHED)
      }
    },
    'a commit does not change documents that it only compares': async (t) => {
      await t.documents.commit([create('a')])
      const compared = [
        { key: 'a', before: '1', after: '1' },
        { key: 'b', before: undefined, after: undefined },
      ]
      equal(
        await t.documents.commit(compared),
        true,
        'a commit that only compares resolves to true where nothing has changed',
      )
      equal([await t.other.get('a'), await keysOf(t.other, '')], ['1', ['a']], 'what is only compared stays as it is')
    },
    'of concurrent commits to one document exactly one succeeds': async (t) => {
      await t.documents.commit([create('a', '0')])
      const texts = Array.from({ length: 20 }, (_, at) => `${at + 1}`)
      const done = await Promise.all(
        texts.map((after, at) =>
          (at % 2 ? t.documents : t.other).commit([{ key: 'a', before: '0', after }, create(`of/${after}`)]),
        ),
      )
      equal(done.filter(Boolean).length, 1, COMPARED)
      const winner = texts[done.indexOf(true)]
      equal([await t.documents.get('a'), await keysOf(t.other, 'of/')], [winner, [`of/${winner}`]], LOST)
    },
    'concurrent commits lose no write': async (t) => {
      await t.documents.commit([create('sum', '0')])
      const add = async (handle: Documents): Promise<void> => {
        for (let tries = 0; tries < 100; tries++) {
          const before = await handle.get('sum')
          if (await handle.commit([{ key: 'sum', before, after: `${Number(before) + 1}` }])) return
        }
        throw new Error('a commit met a conflict 100 times')
      }
      await Promise.all(Array.from({ length: 10 }, (_, at) => add(at % 2 ? t.documents : t.other)))
      equal(await t.documents.get('sum'), '10', LOST)
    },
    'list returns the documents with its prefix in ASCII order, both ways': async (t) => {
      await t.documents.commit(
        [...SORTED.toReversed(), 'sorted', 'sorte', 'sortee/x', 'sorted0'].map((key) => create(key)),
      )
      equal(await keysOf(t.documents, 'sorted/'), SORTED)
      equal(await keysOf(t.documents, 'sorted/', { reverse: true }), SORTED.toReversed())
      equal(
        await keysOf(t.documents, 'sorted/k/'),
        SORTED.filter((key) => key.startsWith('sorted/k/')),
      )
      equal(await keysOf(t.documents, 'nothing/'), [])
    },
    'list continues after any key, and is full up to its limit': async (t) => {
      await t.documents.commit(SORTED.map((key) => create(key)))
      for (const [at, after] of SORTED.entries()) {
        equal(await keysOf(t.documents, 'sorted/', { after, limit: 3 }), SORTED.slice(at + 1, at + 4))
        const before = SORTED.slice(0, at).toReversed()
        equal(await keysOf(t.documents, 'sorted/', { after, limit: 3, reverse: true }), before.slice(0, 3))
      }
      equal(await keysOf(t.documents, 'sorted/', { after: 'sorted/k/2' }), SORTED.slice(SORTED.indexOf('sorted/k/a')))
      equal(await keysOf(t.documents, 'sorted/', { after: 'sorted/k/0z', limit: 1, reverse: true }), ['sorted/k/00'])
    },
    'now is the same time for every handle, in milliseconds': async (t) => {
      const [one, another] = [await t.documents.now(), await t.other.now()]
      ok(
        one > Date.UTC(2000) && Math.abs(another - one) < 10_000,
        `epoch milliseconds of one clock, got ${one} and ${another}`,
      )
    },
  }),
  ...documentsCases(['durable'], {
    'committed documents survive reopening': async (t) => {
      await t.documents.commit([create('a'), create('b')])
      await t.documents.commit([
        { key: 'a', before: '1', after: undefined },
        { key: 'b', before: '1', after: '2' },
      ])
      const opened = await t.reopen?.()
      ok(opened, '`create` returned no `reopen`: return one, or set `durable: false`')
      equal([await opened.get('a'), await opened.get('b'), await keysOf(opened, '')], [undefined, '2', ['b']], LOST)
    },
  }),
]

/**
 * Tests the four methods of `Documents`. Run it first, then `dispatchStoreContract` and `runStoreContract` over
 * `documentStore(documents)`.
 */
export function documentsContract(options: DocumentsContractOptions): void {
  registerCases('documentsContract', STORE, CASES, options)
}
