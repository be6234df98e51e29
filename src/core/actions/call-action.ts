import { type Issue, isSallyportError, type ProblemCode } from '../../errors.ts'
import { pointerTo } from '../../model/json-pointer.ts'
import { portFault } from '../answers/fault.ts'
import { queryRefused } from '../answers/query.ts'
import { type HandlerResult, isRefused, type Refused, refuse, success } from '../answers/result.ts'
import type { Action, ActionCall, ActionRoute } from '../endpoints.ts'
import { invalid } from '../validate.ts'
import { type CallInput, type CallOptions, readInput } from './call-input.ts'

/** The caller of an action. */
export type ActionCaller = Pick<ActionCall, 'principal' | 'consoleUser'>

/**
 * A row of the table of actions: an action whose query and body are the options of one call of a service. Its parts come from the row:
 * route, checks of the input, calls of the client, and the operation of the OpenAPI document.
 */
export interface CallAction<Service = never> extends ActionRoute, CallInput {
  /** Names of query parameters, by the options of the call that have another name. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Code and detail for a call that finds nothing. */
  readonly missing?: readonly [code: ProblemCode, detail: string]
  /** Counts what a request changed, by its answer. */
  changed?(answer: never): number
  /**
   * Makes the call, and returns the body of the answer or a refusal; `undefined`: nothing was found.
   *
   * @param options The parameters of query and path, the members of the body, and the `tenant`.
   */
  call(service: Service, options: never, of: ActionCaller): Promise<object | Refused | undefined>
}

/** The actions that call a service. */
export function actionsOf<Service>(rows: readonly CallAction<Service>[], service: Service): readonly Action[] {
  return rows.map((row) => ({ ...row, run: (call) => answerCall(row, service, call) }))
}

/** Never throws anything but faults of ports. */
async function answerCall<Service>(
  row: CallAction<Service>,
  service: Service,
  { principal, request, consoleUser }: ActionCall,
): Promise<HandlerResult<object> | Refused> {
  const input = readInput(row, request)
  if (isRefused(input)) return input
  try {
    // The tenant is the last: no member of a request replaces it.
    const options = { ...withOwnNames(input.options, row), ...request.parameters, tenant: principal.tenant }
    const found = await row.call(service, options as never, { principal, consoleUser })
    if (found === undefined) return missing(row)
    return isRefused(found) ? found : success(200, found)
  } catch (thrown) {
    const refused = refusedOptions(thrown, row)
    if (refused) return refused
    throw portFault('store_unavailable', thrown)
  }
}

function withOwnNames(options: CallOptions, { renamed }: CallAction): CallOptions {
  if (!renamed) return options
  const own = new Map(Object.entries(renamed).map(([option, parameter]) => [parameter, option]))
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [own.get(name) ?? name, value]))
}

function missing({ missing = ['not_found', 'There is nothing of this id.'] }: CallAction): Refused {
  return refuse(...missing)
}

/**
 * Converts problems of options to a refusal. An id in the path that no store can hold is not found. `undefined`: another error, or
 * problems of a configuration.
 */
function refusedOptions(thrown: unknown, row: CallAction): Refused | undefined {
  if (!isSallyportError(thrown) || thrown.code !== 'option_invalid') return undefined
  const { query = {}, body = [], renamed = {} } = row
  const problems = thrown.problems.map(({ field = '', detail }) => ({ field: renamed[field] ?? field, detail }))
  const isOf = (names: readonly string[]): boolean =>
    problems.length > 0 && problems.every(({ field }) => field === '' || names.includes(field))
  const issues = problems.map(
    ({ field, detail }): Issue => ({ pointer: pointerTo('', field), code: 'invalid', detail }),
  )
  const parameters = Object.keys(query)
  if (isOf(parameters)) return queryRefused(issues)
  if (isOf(body)) return invalid(issues)
  return isOf([...pathParameters(row), ...parameters, ...body]) ? missing(row) : undefined
}

/** Names of the parameters in a path. */
export function pathParameters({ path }: Pick<ActionRoute, 'path'>): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}
