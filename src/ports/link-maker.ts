/** One recipient's address on a channel, the category of an event, and the dispatch whose message gets the link. */
export interface LinkTarget {
  readonly tenant: string
  readonly eventType: string
  /** Of a digest: that of its oldest event. */
  readonly dispatchId: string
  readonly channel: string
  readonly address: string
  readonly category: string
}

/**
 * Makes a link of one recipient when a message is sent: an absolute URL of at most 2,000 characters of `A-Z a-z 0-9` and
 * `- . _ ~ : / ? # [ ] @ ! $ ( ) * + , ; = %`, so that it needs no escaping. `undefined`: this message has no such link. After an error, or
 * without a link that the content needs, nothing is sent, and the attempt is repeated.
 */
export type LinkMaker = (target: LinkTarget) => string | undefined | Promise<string | undefined>

/** Link makers by the names that templates use: `links.<name>`. */
export type LinkMakers = Readonly<Record<string, LinkMaker>>
