import { nearNames } from '../../model/suggestions.ts'

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

/** So many names are kept for the fields of one schema. */
const MAX_KEPT = 200

/** What names were taken for that came before: whoever misnames a field does so in every request. */
const KEPT = /* @__PURE__ */ new WeakMap<object, Map<string, readonly string[]>>()

/**
 * The field that was probably meant by one that is not known; `undefined`: none.
 *
 * @param fields By the names that are known.
 * @param members What was sent: a field that is there is not meant.
 */
export function likelyField(
  given: string,
  fields: object,
  members: Readonly<Record<string, unknown>>,
): string | undefined {
  if (given.length > MAX_LENGTH) return undefined
  return likelyFields(given, fields).find((name) => members[name] === undefined || members[name] === null)
}

/** All that may be meant, the likeliest first. */
function likelyFields(given: string, fields: object): readonly string[] {
  const kept = KEPT.get(fields) ?? new Map<string, readonly string[]>()
  const found = kept.get(given)
  if (found) return found
  if (kept.size >= MAX_KEPT) kept.clear()
  const likely = namesLike(given, Object.keys(fields))
  KEPT.set(fields, kept.set(given, likely))
  return likely
}

function namesLike(given: string, known: readonly string[]): readonly string[] {
  const plain = plainly(given)
  const meant = Object.hasOwn(MEANT, plain) ? MEANT[plain] : undefined
  const same = known.filter((name) => name === meant || plainly(name) === plain)
  return given.length < SHORTEST ? same : [...same, ...nearNames(given, known)]
}

function plainly(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}
