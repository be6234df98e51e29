import type { Content } from '../../model/dispatch.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import type { Channel } from '../../ports/channel.ts'

const NONE: readonly string[] = Object.freeze([])

/**
 * Addresses of a message besides the recipient's, each once. Throws what the channel throws, or when its list is no list of texts.
 */
export function copiesOf(channel: Pick<Channel, 'copies'> | undefined, content: Content): readonly string[] {
  if (!channel?.copies) return NONE
  const given: unknown = channel.copies(content)
  const isList = Array.isArray(given) && [...given].every((address) => typeof address === 'string')
  if (!isList) throw wrongReturn('copies() of the channel', given, 'a list of addresses, [] for none')
  return [...new Set<string>(given)]
}
