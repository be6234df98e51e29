import type { Records } from '../engine/records.ts'
import type { Database } from './connection/database.ts'
import { jobClaimer } from './records/claim.ts'
import { recordCommitter } from './records/commit.ts'
import { recordReader } from './records/read.ts'
import { recordScanner } from './records/scan.ts'

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
    isRefusal: db.isRefusal,
    timeoutMs: db.timeoutMs,
  }
}
