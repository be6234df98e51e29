import { CALL_DESCRIPTIONS } from '../../src/actions/describe.ts'
import { POST_DESCRIPTIONS } from '../../src/actions/describe-posts.ts'
import { CALLS, POSTS } from '../../src/actions/table.ts'
import type { CallAction } from '../../src/core/actions/call-action.ts'
import type { ActionRoute } from '../../src/core/endpoints.ts'
import { PLUGIN_ENDPOINTS } from '../../src/plugins/list.ts'

/** Actions that are calls of a service, of the core and of all plugins. */
export const ALL_CALLS: readonly CallAction[] = [...CALLS, ...PLUGIN_ENDPOINTS.flatMap(({ calls }) => calls)]

/** Those that answer in a host without events of its own for them. Approvals have tests of theirs. */
export const COMMON_CALLS: readonly CallAction[] = ALL_CALLS.filter(({ path }) => !path.includes('/approval'))

/** Their texts and answers, by name. */
export const ALL_DESCRIPTIONS: typeof CALL_DESCRIPTIONS = Object.assign(
  {},
  CALL_DESCRIPTIONS,
  ...PLUGIN_ENDPOINTS.map(({ descriptions }) => descriptions),
)

/** Actions that read their bodies themselves, of the core and of all plugins. */
export const ALL_POSTS: readonly ActionRoute[] = [
  ...Object.values(POSTS),
  ...PLUGIN_ENDPOINTS.flatMap(({ posts = [] }) => posts.map(({ action }) => action)),
]

/** Their texts and answers, by name. */
export const ALL_POST_DESCRIPTIONS: typeof POST_DESCRIPTIONS = Object.fromEntries([
  ...Object.entries(POST_DESCRIPTIONS),
  ...PLUGIN_ENDPOINTS.flatMap(({ posts = [] }) => posts.map(({ action, description }) => [action.name, description])),
])
