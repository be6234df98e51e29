import type { SallyportError } from '../../errors.ts'
import { isStorable } from '../../model/json.ts'
import { parseUrl } from '../../model/parse-url.ts'
import { isPhoneNumber, parseMailbox, type Recipient } from '../../model/recipient.ts'
import { wrongMember, wrongReturn } from '../../options/wrong-return.ts'
import type { Channel } from '../../ports/channel.ts'
import type { RecipientDirectory } from '../../ports/recipient-directory.ts'
import { type CallPlace, port } from '../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../answers/result.ts'

/** Resolves an address, or a user id by the directory. Without a directory, an id is enough if a channel reaches it. */
export function resolveRecipient(
  recipient: string,
  tenant: string,
  directory: RecipientDirectory | undefined,
  isReached: (recipient: Recipient) => boolean,
  place?: CallPlace,
): Recipient | Refused | Promise<Recipient | Refused> {
  const adHoc = adHocRecipient(recipient)
  if (adHoc) return adHoc
  if (directory) return askDirectory(recipient, tenant, directory, place)
  const bare = { id: recipient }
  if (isReached(bare)) return bare
  return unresolvable(
    'It is not one mail address, E.164 number or https URL, and there is no recipient directory to ask.',
  )
}

const HTTPS_URL = /^https:\/\/[^\s\p{Cc}]+$/iu

/** Converts an address to a recipient; `undefined` for any other text. */
export function adHocRecipient(recipient: string): Recipient | undefined {
  if (isPhoneNumber(recipient)) return { id: recipient, phone: recipient }
  if (HTTPS_URL.test(recipient)) return parseUrl(recipient) && { id: recipient, url: recipient }
  if (parseMailbox(recipient) !== undefined) return { id: recipient, email: recipient }
  return undefined
}

async function askDirectory(
  recipient: string,
  tenant: string,
  directory: RecipientDirectory,
  place: CallPlace | undefined,
): Promise<Recipient | Refused> {
  const found = await port('directory_unavailable', () => findRecipient(recipient, tenant, directory), place)
  return found ?? unresolvable('No recipient has this id.')
}

function unresolvable(detail: string): Refused {
  return refuse('recipient_unresolvable', detail, {
    errors: [{ pointer: '/recipient', code: 'invalid', detail }],
  })
}

export async function findRecipient(
  recipient: string,
  tenant: string,
  directory: RecipientDirectory,
): Promise<Recipient | undefined> {
  return checked(await directory.find(recipient, tenant))
}

const TEXTS = ['id', 'email', 'phone', 'url', 'locale', 'timeZone'] as const

const FIND = 'find() of the directory'
const RECIPIENT =
  '{ id, email?, phone?, url?, locale?, timeZone? } with texts, or undefined if there is no such recipient'

/** Throws for a malformed recipient: a broken directory must not look like a recipient without addresses. `null` means absent. */
function checked(found: Recipient | null | undefined): Recipient | undefined {
  if (found === undefined || found === null) return undefined
  if (typeof found !== 'object' || typeof found.id !== 'string') throw wrongReturn(FIND, found, RECIPIENT)
  for (const key of TEXTS) {
    const value: unknown = found[key]
    if (value === null) return checked(withoutNulls(found))
    if (value !== undefined && typeof value !== 'string') throw wrongMember(FIND, key, value, RECIPIENT)
  }
  // Other members are stored only if a channel builds an address from them.
  if (!isStorable(found.locale ?? ''))
    throw wrongMember(FIND, 'locale', found.locale, 'a text without NUL and lone surrogates')
  return isRefused(found) ? unlikeRefusal(found) : found
}

/** Removes a member `refused`: the recipient would look like a refusal, and its text would be sent to the caller. */
function unlikeRefusal(found: Recipient): Recipient {
  const { refused: _, ...rest } = found as Recipient & { readonly refused?: unknown }
  return rest
}

function withoutNulls(found: Recipient): Recipient {
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null)) as unknown as Recipient
}

export type ResolvedAddress =
  | { readonly outcome: 'reached'; readonly address: string; readonly concurrencyKey?: string }
  | { readonly outcome: 'none' }
  /** The channel threw, returned no string, or does not exist. */
  | { readonly outcome: 'error'; readonly cause?: unknown }

const NONE: ResolvedAddress = { outcome: 'none' }
const ABSENT: ResolvedAddress = { outcome: 'error' }
const STORABLE = 'a text without NUL and lone surrogates'

/** Returns the channel's address of a recipient. Never throws. */
export function resolveAddress(channel: Channel | undefined, recipient: Recipient): ResolvedAddress {
  if (!channel) return ABSENT
  try {
    const address: unknown = channel.address(recipient)
    if (typeof address === 'string' && address !== '') return reached(address, channel.concurrencyKey?.(address))
    if (address === undefined || address === null || address === '') return NONE
    return wrong(
      wrongReturn('address() of the channel', address, 'a text at once, or undefined if there is no address'),
    )
  } catch (cause) {
    return { outcome: 'error', cause }
  }
}

function reached(address: string, concurrencyKey: unknown): ResolvedAddress {
  if (!isStorable(address)) return wrong(wrongReturn('address() of the channel', address, STORABLE))
  if (concurrencyKey === undefined) return { outcome: 'reached', address }
  if (typeof concurrencyKey === 'string' && isStorable(concurrencyKey)) {
    return { outcome: 'reached', address, concurrencyKey }
  }
  return wrong(wrongReturn('concurrencyKey() of the channel', concurrencyKey, STORABLE))
}

function wrong(cause: SallyportError): ResolvedAddress {
  return { outcome: 'error', cause }
}
