import type { SignedLinks } from '../../core/links/signed-links.ts'
import { type Awaitable, andThen } from '../../model/awaitable.ts'
import type { LinkMakers, LinkTarget } from '../../ports/link-maker.ts'
import type { ApprovalRecords } from './approval-records.ts'
import { type ApprovalsOptions, LINKS } from './check-options.ts'

const PURPOSE = 'approval'
export const LINK_PATH = '/api/outbound/approval/'

/** Content of a link: the dispatch in whose message it was sent, which names the approver. */
export interface ApprovalLink {
  readonly tenant: string
  readonly dispatchId: string
}

/** Makes the links of messages that ask, which all lead to the page. Other messages have none, nor has a dispatch that no request has stored. */
export function approvalLinks(
  { events }: ApprovalsOptions,
  { prompts }: ApprovalRecords,
  links: SignedLinks,
): LinkMakers {
  const make = async ({ tenant, eventType, dispatchId }: LinkTarget): Promise<string | undefined> => {
    if (!Object.hasOwn(events, eventType)) return undefined
    const [prompt] = await prompts.find(tenant, [dispatchId])
    return prompt && links.sign(PURPOSE, LINK_PATH, [tenant, dispatchId])
  }
  return Object.fromEntries(LINKS.map((name) => [name, make]))
}

/** `undefined`: nobody signed it. */
export function readApprovalLink(token: string, links: SignedLinks): Awaitable<ApprovalLink | undefined> {
  return andThen(links.read(PURPOSE, token), (texts) => {
    const [tenant, dispatchId, ...more] = texts ?? []
    if (tenant === undefined || dispatchId === undefined || more.length > 0) return undefined
    return { tenant, dispatchId }
  })
}
