import { withTimeout } from '../../../model/time-out.ts'
import { systemTimers } from '../../engine/timed-out.ts'
import { type HostKysely, statement } from '../connection/database.ts'
import { unusable } from '../connection/driver-errors.ts'
import { prepared } from '../connection/prepared-statements.ts'

/**
 * A check, made once, that connections keep prepared statements. A pooler in transaction mode sends those of two connections to one server,
 * which refuses the second of a name.
 * @param timeoutMs For a second connection: the pool may have only one.
 */
export function poolerCheck(host: HostKysely, timeoutMs: number): () => Promise<void> {
  const query = statement(prepared('select $1 as prepared'), ['1'])
  let isChecked = false

  return async () => {
    if (isChecked) return
    const own = host.withoutPlugins()
    const second = (): Promise<unknown> => own.connection().execute((connection) => connection.executeQuery(query))
    try {
      await own.connection().execute(async (first) => {
        await first.executeQuery(query)
        await withTimeout(second(), { ms: timeoutMs, clock: systemTimers, fallback: () => undefined })
      })
    } catch (cause) {
      throw unusable(cause)
    }
    isChecked = true
  }
}
