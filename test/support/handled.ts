import type { HandlerRequest, HandlerResult } from '../../src/core/answers/result.ts'
import type { Action, Endpoints } from '../../src/core/endpoints.ts'
import type { Principal } from '../../src/model/principal.ts'

/** The action of this name. */
export function actionNamed({ actions }: Pick<Endpoints, 'actions'>, name: string): Action {
  const found = actions.find((action) => action.name === name)
  if (!found) throw new Error(`no action ${name}`)
  return found
}

/** Handles a request of a caller to the action of this name, without HTTP. */
export function handled(
  endpoints: Endpoints,
  name: string,
  principal: Principal,
  request: HandlerRequest,
): Promise<HandlerResult<unknown>> {
  return endpoints.handle(actionNamed(endpoints, name), principal, request)
}
