import type { Records } from '../../engine/records.ts'
import { Conflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { jobClaimer } from './claim.ts'
import { recordCommitter } from './commit.ts'
import { recordReader } from './read.ts'
import { recordScanner } from './scan.ts'

/** Records in the tables of a SQL database. */
export function sqlRecords(db: Database): Records {
  return {
    async now() {
      await db.sync()
      const now = db.now()
      return { earliest: Math.floor(now), latest: Math.ceil(now + db.uncertaintyMs()) }
    },
    read: recordReader(db),
    scan: recordScanner(db),
    commit: recordCommitter(db),
    claim: jobClaimer(db),
    isRefusal: (cause) => !(cause instanceof Conflict) && db.isOnesFault(cause),
    timeoutMs: db.timeoutMs,
  }
}
