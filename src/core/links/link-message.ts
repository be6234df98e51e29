import { wrongReturn } from '../../options/wrong-return.ts'
import type { MessageLinks, OutboundMessage } from '../../ports/channel.ts'
import type { LinkMakers, LinkTarget } from '../../ports/link-maker.ts'
import { fillLinks, linksIn } from './fill-links.ts'

export interface LinkedEvent {
  readonly channel: string
  readonly category: string
  readonly critical: boolean
}

/**
 * Fills the placeholders of a message with the recipient's links; passes all links too, unless the event is critical. Rejects when a link
 * cannot be made.
 */
export async function linkMessage(
  message: OutboundMessage,
  { channel, category, critical }: LinkedEvent,
  makers: LinkMakers,
): Promise<OutboundMessage> {
  const { tenant, eventType, dispatchId, to: address, content } = message
  const all = Object.keys(makers)
  const used = linksIn(content, all)
  const names = critical ? used : all
  if (names.length === 0) return message
  const target = { tenant, eventType, dispatchId, channel, address, category }
  const made = await Promise.all(
    names.map(async (name) => {
      const link = await linkOf(name, makers, target, used.includes(name))
      return link === undefined ? [] : [[name, link] as const]
    }),
  )
  const links: MessageLinks = Object.fromEntries(made.flat())
  return { ...message, content: used.length > 0 ? fillLinks(content, links) : content, ...(!critical && { links }) }
}

/** It goes into HTML, mail headers and plain text as it is. */
const LINK = /^https?:\/\/[A-Za-z0-9._~:/?#[\]@!$()*+,;=%-]{1,1992}$/

async function linkOf(
  name: string,
  makers: LinkMakers,
  target: LinkTarget,
  isNeeded: boolean,
): Promise<string | undefined> {
  const given: unknown = await makers[name]?.(target)
  if (typeof given === 'string' && LINK.test(given)) return given
  if (given === undefined && !isNeeded) return undefined
  throw wrongReturn(
    `links.${name}()`,
    given,
    'an absolute URL of at most 2,000 characters, without spaces and < > & \' "',
  )
}
