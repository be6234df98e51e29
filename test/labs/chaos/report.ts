import { readFile, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { wrapped } from '../../support/wrapped.ts'
import { missed, type Verdict } from './trial.ts'

const FILE = new URL('../../../docs/figures.md', import.meta.url)
const LONGEST_LINE = 140
const FIGURES: Marks = ['<!-- figures: written by npm run chaos -->', '<!-- end of figures -->']

/** Unique lines around a part of the file that a program writes. */
type Marks = readonly [begin: string, end: string]

/** Circumstances of the figures. */
export interface Circumstances {
  readonly command: string
  /** Versions of all programs. */
  readonly versions: readonly string[]
  /** Scenarios that did not run, with reasons. */
  readonly absent: readonly string[]
  readonly took: string
}

/** Writes the figures of all scenarios. */
export function writeReport(verdicts: readonly Verdict[], circumstances: Circumstances): Promise<void> {
  return writeBetween(FIGURES, figures(verdicts, circumstances))
}

/** Replaces what is between two marks. The rest of the file is written by hand. */
export async function writeBetween([begin, end]: Marks, lines: string): Promise<void> {
  const text = await readFile(FILE, 'utf8')
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${FILE.pathname} has no place for the figures`)
  await writeFile(FILE, `${before}${begin}\n\n${withShortLines(lines)}\n\n${end}${after}`)
}

/** Breaks long lines of prose. Rows of tables stay. */
function withShortLines(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const isShort = line.length <= LONGEST_LINE || line.startsWith('|')
      return isShort ? line : wrapped(line, line.startsWith('- ') ? '  ' : '', LONGEST_LINE)
    })
    .join('\n')
}

/** When, how and where figures were measured, and with which programs. */
export function measured({ command, versions, took }: Omit<Circumstances, 'absent'>): readonly string[] {
  const processor = cpus()
  const where = `${processor.length} cores of an ${processor[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release().split('-')[0]}`
  return [
    `Measured ${new Date().toISOString().slice(0, 10)} by \`${command}\`, which took ${took}, on ${where}.`,
    `${versions.join(', ')}.`,
  ]
}

function figures(verdicts: readonly Verdict[], circumstances: Circumstances): string {
  const groups = [...grouped(verdicts).values()]
  return [
    ...measured(circumstances),
    '',
    '| scenario, seeds | lost/accepted | twice/limit | seconds/limit |',
    '| --- | ---: | ---: | --- |',
    ...groups.map(row),
    '',
    '| scenario | faults |',
    '| --- | --- |',
    ...groups.flatMap(([first]) => (first ? [`| ${first.scenario}, ${first.database} | ${first.faults} |`] : [])),
    ...circumstances.absent.map((reason) => `\nSkipped: ${reason}.`),
    ...problems(verdicts),
  ].join('\n')
}

/** Sums of accepted and lost events; minimum, median and maximum of the other values over all seeds. */
function row(verdicts: readonly Verdict[]): string {
  const [first] = verdicts
  if (!first) return ''
  const all = (of: (verdict: Verdict) => number): readonly number[] => verdicts.map(of)
  const sum = (list: readonly number[]): string => String(list.reduce((total, one) => total + one, 0))
  const seeds = verdicts.length === 1 ? [] : [`${first.seed}-${verdicts.at(-1)?.seed}`]
  const times = first.times.map(({ what, promisedMs }, index) => {
    const taken = all(({ times }) => times[index]?.ms ?? Number.NaN)
    return `${what} ${spread(taken, seconds)}/${seconds(promisedMs)}`
  })
  const name = [first.scenario, first.database, ...seeds].join(', ')
  const lost = `${sum(all((one) => one.lost))}/${sum(all((one) => one.accepted))}`
  const twice = `${spread(all((one) => one.duplicates))}/${Math.max(...all((one) => one.allowed))}`
  return `| ${[name, lost, twice, times.join('; ')].join(' | ')} |`
}

/** Minimum, median and maximum. */
export function spread(list: readonly number[], write: (one: number) => string = String): string {
  const sorted = [...list].sort((one, other) => one - other)
  const [least = Number.NaN] = sorted
  if (sorted.length === 1) return write(least)
  const middle = (sorted.length - 1) / 2
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
  return [least, median, sorted.at(-1) ?? Number.NaN].map(write).join('-')
}

function problems(verdicts: readonly Verdict[]): readonly string[] {
  const broken = verdicts.flatMap((one) =>
    [...one.broken, ...missed(one)].map(
      (sentence) => `- ${one.scenario}, ${one.database}, seed ${one.seed}: ${sentence}`,
    ),
  )
  return broken.length === 0 ? ['', 'No promise was broken.'] : ['', 'Broken:', '', ...broken]
}

function grouped(verdicts: readonly Verdict[]): ReadonlyMap<string, readonly Verdict[]> {
  const groups = new Map<string, Verdict[]>()
  for (const verdict of verdicts) {
    const key = `${verdict.scenario} ${verdict.database}`
    groups.set(key, [...(groups.get(key) ?? []), verdict])
  }
  return groups
}

export function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2)
}
