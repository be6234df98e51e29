import { RECIPIENT_MEMBERS } from '../../../../model/recipient.ts'
import { near } from '../../../../options/read-options.ts'
import type { FactPath } from '../../../../ports/fact-path.ts'
import { findUnknownName, type SchemaPart } from './names-below.ts'

/** Returns the fault of a path below `recipient` that reads a name which no recipient has. */
export function recipientNameFault(steps: FactPath): string | undefined {
  const unknown = findUnknownName(steps, RECIPIENT_MEMBERS, readMember)
  if (!unknown) return undefined
  const { index, name, known } = unknown
  const above = ['recipient', ...steps.slice(0, index)].join('.')
  if (index > 0) return `reads ${above}.${name}, but ${above} is a text`
  const members = `its members are ${known.join(', ')}${near(name, known)}`
  return `reads recipient.${name}, which no recipient has: ${members}; for data of your own, write recipient.attributes.${name}`
}

function readMember(member: unknown): SchemaPart | undefined {
  if (member === RECIPIENT_MEMBERS) return { names: Object.entries(RECIPIENT_MEMBERS) }
  return member === 'text' ? { isText: true } : undefined
}
