import { boundedIssues } from '../../../core/answers/result.ts'
import type { Issue, IssueCode } from '../../../errors.ts'
import { isStorable } from '../../../model/json.ts'
import { pointerTo } from '../../../model/json-pointer.ts'

const MAX_ISSUES = 20

/** An issue whose pointer begins at the faulty value. */
export function fault(code: IssueCode, detail: string, pointer = ''): Issue {
  return { pointer, code, detail }
}

/** Moves faults of a member to the pointer of the whole. */
export function at(key: PropertyKey, faults: readonly Issue[]): readonly Issue[] {
  return faults.map((one) => ({ ...one, pointer: pointerTo('', key) + one.pointer }))
}

/** The first issues, limited in number and in the length of their pointers. */
export function firstIssues(faults: readonly Issue[]): readonly Issue[] {
  return boundedIssues(faults.slice(0, MAX_ISSUES))
}

/** Members that are neither `undefined` nor known. */
export function unknownMembers(
  members: Readonly<Record<string, unknown>>,
  isKnown: (name: string) => boolean,
  detail: string,
): readonly Issue[] {
  const unknown = Object.keys(members).filter((name) => members[name] !== undefined && !isKnown(name))
  return unknown.flatMap((name) => at(name, [fault('not_allowed', detail)]))
}

/** Issue of a text that databases refuse. */
export function storageFault(text: string): readonly Issue[] {
  if (isStorable(text)) return []
  const isNul = text.includes('\0')
  return [
    isNul ? fault('nul_character', 'holds a NUL character') : fault('lone_surrogate', 'holds half of a surrogate pair'),
  ]
}

/** Faults of a list whose items occur twice, except `undefined` items. */
export function repetitions(values: readonly unknown[]): readonly Issue[] {
  const seen = new Set<unknown>()
  return values.flatMap((value, index) => {
    if (value === undefined || !seen.has(value)) {
      seen.add(value)
      return []
    }
    return at(index, [fault('not_allowed', 'is there twice')])
  })
}
