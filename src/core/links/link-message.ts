import type { OutboundMessage } from '../../ports/channel.ts'
import { fillLinks, hasPlaceholder } from './fill-links.ts'
import type { LinkService } from './link-service.ts'

export interface LinkedEvent {
  readonly channel: string
  readonly category: string
  readonly critical: boolean
}

/** Fills the placeholders of a message with the recipient's links; passes the links too, unless the event is critical. */
export async function linkMessage(
  message: OutboundMessage,
  { channel, category, critical }: LinkedEvent,
  service: LinkService,
): Promise<OutboundMessage> {
  const { tenant, to: address, content } = message
  if (critical && !hasPlaceholder(content, service.placeholders)) return message
  const links = { unsubscribe: await service.unsubscribeUrl({ tenant, channel, address, category }) }
  return { ...message, content: fillLinks(content, service.placeholders, links), ...(!critical && { links }) }
}
