import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { connectTo, type Place } from './place.ts'

/** The store of one process. */
export interface PlaceStore {
  readonly store: SallyportStore
  close(): Promise<void>
}

/** Opens the store at an address: of documents in Redis, otherwise of SQL. */
export async function openStore(place: Place): Promise<PlaceStore> {
  if (place.dialect === 'redis') return (await import('./redis-store.ts')).openRedisStore(place)
  const db = await connectTo(place)
  return { store: sqlStore({ db, dialect: place.dialect }), close: () => db.destroy() }
}
