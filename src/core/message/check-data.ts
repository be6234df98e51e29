import { SallyportError } from '../../errors.ts'
import { type Awaitable, isPromise } from '../../model/awaitable.ts'
import type { JsonObject } from '../../model/json.ts'
import { withTimeout } from '../../model/time-out.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CatalogEvent, DataOutcome } from '../../ports/event-catalog.ts'
import { HostFault } from '../answers/fault.ts'

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
    const checking = event.checkData(eventData)
    if (!isPromise(checking)) return checking
    return withTimeout(checking, { ms: SCHEMA_MS, clock, fallback: silent }).catch(fail)
  } catch (cause) {
    return fail(cause)
  }
}

function silent(): never {
  throw new SallyportError('no_answer', `validate() of the data schema did not answer within ${SCHEMA_MS / 1_000} s`)
}
