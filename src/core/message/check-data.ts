import { type Awaitable, isPromise } from '../../model/awaitable.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CatalogEvent, DataOutcome } from '../../ports/event-catalog.ts'
import { HostFault } from '../answers/fault.ts'
import { inTime } from '../answers/in-time.ts'

const SCHEMA_MS = 2_000

/** Checks an event's data. Throws a fault of the host when its schema returns a wrong value, or none within two seconds. */
export function checkEventData(
  event: CatalogEvent,
  eventData: JsonObject,
  clock: Pick<Clock, 'after'>,
): Awaitable<DataOutcome> {
  const fail = (cause: unknown): never => {
    throw new HostFault('internal_error', 'data_schema', cause, { eventType: event.eventType })
  }
  try {
    const checking = inTime(event.checkData(eventData), 'validate() of the data schema', SCHEMA_MS, clock)
    return isPromise(checking) ? checking.catch(fail) : checking
  } catch (cause) {
    return fail(cause)
  }
}
