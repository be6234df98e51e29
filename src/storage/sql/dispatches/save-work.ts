import { newChanges } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'

/** Writes down what has become of all that a workspace holds. */
export async function saveWork(work: DispatchUnitOfWork, db: Pick<Database, 'write'>): Promise<void> {
  const changes = newChanges()
  work.save(changes)
  await db.write(changes)
}
