import { isStorable } from '../../../model/json.ts'
import { parseUrl } from '../../../model/parse-url.ts'
import { isPhoneNumber, parseMailbox, type Recipient } from '../../../model/recipient.ts'
import type { RecipientDirectory } from '../../../ports/recipient-directory.ts'
import { type CallPlace, port } from '../../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../../answers/result.ts'

const HTTPS_URL = /^https:\/\/[^\s\p{Cc}]+$/iu

/**
 * Finds out who is meant: an address speaks for itself, anything else is a user id for the directory. Without a directory
 * a bare id will do for the channels that reach everyone.
 */
export function resolveRecipient(
  recipient: string,
  tenant: string,
  directory: RecipientDirectory | undefined,
  isReached: (recipient: Recipient) => boolean,
  place?: CallPlace,
): Recipient | Refused | Promise<Recipient | Refused> {
  const adHoc = adHocRecipient(recipient)
  if (adHoc) return adHoc
  if (directory) return look(recipient, tenant, directory, place)
  const bare = { id: recipient }
  if (isReached(bare)) return bare
  return unresolvable(
    'It is not one mail address, E.164 number or https URL, and there is no recipient directory to ask.',
  )
}

async function look(
  recipient: string,
  tenant: string,
  directory: RecipientDirectory,
  place: CallPlace | undefined,
): Promise<Recipient | Refused> {
  const found = await port('directory_unavailable', () => findRecipient(recipient, tenant, directory), place)
  return found ?? unresolvable('No recipient has this id.')
}

/** Whom a directory, which is of the host's own making, knows by an id. */
export async function findRecipient(
  recipient: string,
  tenant: string,
  directory: RecipientDirectory,
): Promise<Recipient | undefined> {
  return checked(await directory.find(recipient, tenant))
}

const TEXTS = ['id', 'email', 'phone', 'url', 'locale', 'timeZone'] as const

/** A directory that gives something else is broken: that must not read as somebody who cannot be reached. `null` is nothing. */
function checked(found: Recipient | null | undefined): Recipient | undefined {
  if (found === undefined || found === null) return undefined
  if (typeof found !== 'object' || typeof found.id !== 'string') throw new TypeError('the directory gave no recipient')
  for (const key of TEXTS) {
    const value: unknown = found[key]
    if (value === null) return checked(withoutNulls(found))
    if (value !== undefined && typeof value !== 'string') throw new TypeError('the directory gave no recipient')
  }
  // The others are kept only where a channel makes an address of them.
  if (!isStorable(found.locale ?? '')) throw new TypeError('the directory gave a locale that no store can keep')
  return isRefused(found) ? unlikeRefusal(found) : found
}

/** A row with a column called `refused`: it must not pass for a refusal of ours, whose words go to the caller. */
function unlikeRefusal(found: Recipient): Recipient {
  const { refused: _, ...rest } = found as Recipient & { readonly refused?: unknown }
  return rest
}

function withoutNulls(found: Recipient): Recipient {
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null)) as unknown as Recipient
}

/** The recipient that an address stands for by itself. */
export function adHocRecipient(recipient: string): Recipient | undefined {
  if (isPhoneNumber(recipient)) return { id: recipient, phone: recipient }
  if (HTTPS_URL.test(recipient)) return parseUrl(recipient) && { id: recipient, url: recipient }
  if (parseMailbox(recipient) !== undefined) return { id: recipient, email: recipient }
  return undefined
}

function unresolvable(detail: string): Refused {
  return refuse('recipient_unresolvable', detail, {
    errors: [{ pointer: '/recipient', code: 'invalid', detail }],
  })
}
