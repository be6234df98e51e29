import type { NewPluginRecord, PluginRecord, RecordName, RecordStore } from '../../src/ports/record-store.ts'

/** Stores or replaces records together. */
export function putRecords(
  store: Pick<RecordStore, 'changeRecords'>,
  ...records: readonly NewPluginRecord<object>[]
): Promise<void> {
  return store.changeRecords(records, (draft) => {
    for (const one of records) draft.put(one)
  })
}

/** Finds records by their keys. */
export function findRecords(
  store: Pick<RecordStore, 'findRecords'>,
  { kind, tenant }: Pick<RecordName, 'kind' | 'tenant'>,
  ...keys: readonly string[]
): Promise<readonly PluginRecord[]> {
  return store.findRecords({ kind, by: 'key', texts: keys.map((text) => ({ tenant, text })) })
}

/** Runs a call of the store, earlier or later or not at all. */
type Around = <Result>(run: () => Promise<Result>) => Promise<Result>

/** The store, with something around its reads or changes of the records of a kind. */
export function aroundRecords<Store extends RecordStore>(
  store: Store,
  kind: string,
  { read = (run) => run(), change = (run) => run() }: { readonly read?: Around; readonly change?: Around },
): Store {
  return {
    ...store,
    findRecords: (search) => (search.kind === kind ? read(() => store.findRecords(search)) : store.findRecords(search)),
    listRecords: (query) => (query.kind === kind ? read(() => store.listRecords(query)) : store.listRecords(query)),
    changeRecords: (names, decide) =>
      names.some((name) => name.kind === kind)
        ? change(() => store.changeRecords(names, decide))
        : store.changeRecords(names, decide),
  }
}
