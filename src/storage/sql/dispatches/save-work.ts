import { newChanges } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import type { Workspace } from './dispatch-unit-of-work.ts'

/** Writes down what has become of all that a workspace holds. */
export async function saveWork(work: Workspace, db: Pick<Database, 'write'>): Promise<void> {
  const changes = newChanges()
  work.save(changes)
  await db.write(changes)
}
