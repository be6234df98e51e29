import type { CallAction } from '../core/actions/call-action.ts'
import type { ActionRoute } from '../core/endpoints.ts'
import type { CallDescription } from './call-operations.ts'
import type { PostDescription } from './post-operations.ts'

/** Endpoints of the core or of one plugin, with their texts and answers. */
export interface DescribedEndpoints {
  /** Actions that read their bodies themselves. */
  readonly posts?: readonly { readonly action: ActionRoute; readonly description: PostDescription }[]
  readonly calls: readonly CallAction[]
  /** By the names of the calls. */
  readonly descriptions: Readonly<Record<string, CallDescription>>
}
