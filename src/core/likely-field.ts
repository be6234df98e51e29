import { nearNames } from '../model/suggestions.ts'

/** Fields as others call them, in lower case without `_` and `-`. */
const MEANT: Readonly<Record<string, string>> = {
  data: 'eventData',
  payload: 'eventData',
  params: 'eventData',
  variables: 'eventData',
  context: 'eventData',
  type: 'eventType',
  event: 'eventType',
  eventname: 'eventType',
  template: 'eventType',
  to: 'recipient',
  user: 'recipient',
  userid: 'recipient',
  recipientid: 'recipient',
  recipients: 'recipient',
  subscriber: 'recipient',
  session: 'sessionId',
  channels: 'channel',
}

/** A longer one is no slip. */
const MAX_LENGTH = 64
/** A shorter one is near to anything. */
const SHORTEST = 4

/** The field that was probably meant by one that is not known, of those that are; `undefined`: none. */
export function likelyField(given: string, known: readonly string[]): string | undefined {
  if (given.length > MAX_LENGTH) return undefined
  const plain = plainly(given)
  const meant = Object.hasOwn(MEANT, plain) ? MEANT[plain] : undefined
  if (meant !== undefined && known.includes(meant)) return meant
  const near = given.length < SHORTEST ? [] : nearNames(given, known)
  return known.find((name) => plainly(name) === plain) ?? near[0]
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}
