import type { CallAction } from '../../src/core/actions/call-action.ts'
import { ALL_CALLS, ALL_DESCRIPTIONS } from '../support/actions.ts'
import { placeOf } from '../support/client-calls.ts'

/** Parameters of every list. */
const PAGING = ['cursor', 'limit']

// The guide to approvals has the paths of agents.
const CALLS = ALL_CALLS.filter(({ path }) => !path.startsWith('/api/agents/session/approval'))

/**
 * The rows of the table of paths in `docs/read-api.md`.
 *
 * @param clientMethods Methods of the client, by place.
 */
export function pathTable(clientMethods: ReadonlyMap<string, string>): readonly string[] {
  const rows = CALLS.map((action) => {
    const { method, name, path } = action
    const called = clientMethods.get(placeOf(`${method} ${path}`))
    return `| ${[placed(action), ALL_DESCRIPTIONS[name]?.summary, called && `\`${called}\``].join(' | ')} |`
  })
  return ['| path below `{base_url}` | what it does | [client](#a-client) |', '|---|---|---|', ...rows]
}

/** The rows of the table of parameters and members in `docs/read-api.md`, for paths that take any. */
export function inputTable(): readonly string[] {
  const rows = CALLS.filter((action) => takenBy(action) !== '').map(
    (action) => `| ${placed(action)} | ${takenBy(action)} |`,
  )
  return ['| path | takes |', '|---|---|', ...rows]
}

function placed({ method, path }: CallAction): string {
  return `\`${method === 'POST' ? `POST ${path}` : path}\``
}

/** The parameters of a query, or the members of a body: one of those between `or`, and those with `?` or not. */
function takenBy({ name, query = {}, body }: CallAction): string {
  const parameters = Object.keys(query).filter((parameter) => !PAGING.includes(parameter))
  if (body === undefined) return parameters.length > 0 ? `\`${parameters.join(' ')}\`` : ''
  const ways = ALL_DESCRIPTIONS[name]?.required ?? []
  const required = ways.length > 1 ? [ways.map(([member]) => `"${member}"`).join(' or ')] : quoted(ways[0] ?? [])
  const optional = body.filter((member) => !ways.flat().includes(member))
  const members = [...required, ...quoted(optional).map((member) => `${member}?`)]
  return members.length > 0 ? `\`{ ${members.join(', ')} }\`` : ''
}

function quoted(members: readonly string[]): readonly string[] {
  return members.map((member) => `"${member}"`)
}
