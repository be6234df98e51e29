import type { DocumentChange, Documents } from '../../ports/documents.ts'
import type { Kind } from '../engine/kinds.ts'
import type { Change, Records } from '../engine/records.ts'
import { type KnownTexts, knownTexts, type TextReader, textReader } from './document-texts.ts'
import { readRecords } from './read-records.ts'
import { entriesOf, parseRecord, recordText, updatedRecord } from './record-documents.ts'
import { type Row, recordKey } from './record-keys.ts'
import { scanRecords } from './scan-records.ts'

/** Keeps the commits of claims small. */
const MAX_CLAIMED = 25

/**
 * Records in a database with compare-and-set. A record is a document, with another one in each of its indexes:
 *
 * | document | key | text |
 * |---|---|---|
 * | record | `<kind>/<values of its key>` | JSON of its columns |
 * | index | `<kind>.<index>/<values of the index>/<its key, unless the index contains it>` | JSON list of these values |
 */
export function documentRecords(documents: Documents): Records {
  const known = knownTexts()
  return {
    async now() {
      const now = await documents.now()
      return { earliest: Math.floor(now), latest: Math.ceil(now) }
    },
    read: (wanted) => readRecords(documents, known, wanted),
    scan: (scan) => scanRecords(documents, known, scan),
    commit: (changes) => commitRecords(documents, known, changes),
    maxClaimed: MAX_CLAIMED,
  }
}

/** Comparisons come before changes, and removals before insertions. */
const PHASES = ['compare', 'update', 'remove', 'insert'] as const

/** The changes of one record in a commit, in order. */
interface Edit {
  readonly kind: Kind
  readonly key: string
  readonly steps: readonly Step[]
}

interface Step {
  readonly do: Change['do']
  readonly row: Row
}

/** A record before and after a commit, with its texts. */
interface Edited {
  readonly kind: Kind
  readonly change: DocumentChange
  readonly before: Row | undefined
  readonly after: Row | undefined
}

async function commitRecords(documents: Documents, known: KnownTexts, changes: readonly Change[]): Promise<boolean> {
  const edits = await editsOf(changes)
  if (edits.length === 0) return true
  const reader = textReader(documents, known)
  const results = await Promise.all(edits.map((edit) => editRecord(edit, known, reader)))
  const records = results.filter((result) => result !== undefined)
  if (records.length < results.length) return false

  const entries = await Promise.all(records.map(entryChanges))
  // Forgotten first: after an error the commit may have been made or not.
  for (const { change } of records) known.put(change.key, undefined)
  const isCommitted = await documents.commit([...records.map(({ change }) => change), ...entries.flat()])
  if (isCommitted) for (const { change } of records) known.put(change.key, change.after)
  return isCommitted
}

/** The steps of each record: one document changes once in a commit. */
async function editsOf(changes: readonly Change[]): Promise<readonly Edit[]> {
  const ordered = PHASES.flatMap((phase) => changes.filter((change) => change.do === phase))
  const edits = new Map<string, Edit & { steps: Step[] }>()
  for (const { do: action, kind, records } of ordered) {
    for (const record of records) {
      const row: Row = record
      const key = await recordKey(kind, row)
      const edit = edits.get(key) ?? { kind, key, steps: [] }
      edit.steps.push({ do: action, row })
      edits.set(key, edit)
    }
  }
  return [...edits.values()]
}

/** `undefined`: the record has another version, or exists although it is inserted. */
async function editRecord(
  { kind, key, steps }: Edit,
  known: KnownTexts,
  reader: TextReader,
): Promise<Edited | undefined> {
  const old = steps.find((step) => step.do !== 'insert')
  const text = old && (await textOfVersion(key, old.row.version, known, reader))
  if (old && text === undefined) return undefined

  const before = text === undefined ? undefined : parseRecord(kind, text)
  let after = before
  for (const step of steps) {
    if (step.do === 'insert' ? after !== undefined : step.row.version !== after?.version) return undefined
    after = afterStep(kind, after, step)
  }
  const isCompared = steps.every((step) => step.do === 'compare')
  return {
    kind,
    change: { key, before: text, after: isCompared ? text : after && recordText(kind, after) },
    before,
    after,
  }
}

function afterStep(kind: Kind, row: Row | undefined, step: Step): Row | undefined {
  switch (step.do) {
    case 'insert':
      return step.row
    case 'update':
      return row && updatedRecord(kind, row, step.row)
    case 'remove':
      return undefined
    case 'compare':
      return row
  }
}

/** The text of a record if it has this version. A known text that has it needs no read: the commit compares it. */
async function textOfVersion(
  key: string,
  version: unknown,
  known: KnownTexts,
  reader: TextReader,
): Promise<string | undefined> {
  const text = known.get(key)
  if (text !== undefined && versionOf(text) === version) return text
  const current = await reader.read(key)
  return current !== undefined && versionOf(current) === version ? current : undefined
}

function versionOf(text: string): unknown {
  const { version }: Row = JSON.parse(text)
  return version
}

/** Changes of the documents in indexes. */
async function entryChanges({ kind, before, after }: Edited): Promise<readonly DocumentChange[]> {
  const [removed, added] = await Promise.all([entriesOf(kind, before), entriesOf(kind, after)])
  return [...new Set([...removed.keys(), ...added.keys()])]
    .map((key) => ({ key, before: removed.get(key), after: added.get(key) }))
    .filter((change) => change.before !== change.after)
}
