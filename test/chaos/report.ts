import { readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { late, type Verdict } from './trial.ts'

const FILE = new URL('../../docs/reliability.md', import.meta.url)
const BEGIN = '<!-- figures: written by npm run chaos -->'
const END = '<!-- end of figures -->'

/** Puts the figures between their two marks; the rest of the file is written by hand. */
export async function writeReport(verdicts: readonly Verdict[], absent: readonly string[]): Promise<void> {
  const text = await readFile(FILE, 'utf8')
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`${FILE.pathname} has no place for the figures`)
  await writeFile(FILE, `${before}${BEGIN}\n\n${figures(verdicts, absent)}\n\n${END}${after}`)
}

function figures(verdicts: readonly Verdict[], absent: readonly string[]): string {
  const processor = cpus()
  const where = `${processor.length} cores of an ${processor[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
  return [
    `Measured ${new Date().toISOString().slice(0, 10)} on ${where}, by \`npm run chaos\`.`,
    '',
    '| scenario | on | seeds | what was done, each time | accepted | lost | twice | at most | slowest, of what is promised |',
    '| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |',
    ...[...grouped(verdicts).values()].map(row),
    ...absent.map((reason) => `\nNot played: ${reason}.`),
    ...problems(verdicts),
  ].join('\n')
}

/** Sums over the seeds, and the worst of each time. */
function row(verdicts: readonly Verdict[]): string {
  const [first] = verdicts
  if (!first) return ''
  const sum = (of: (verdict: Verdict) => number): string => String(verdicts.reduce((total, one) => total + of(one), 0))
  const seeds = verdicts.length === 1 ? `${first.seed}` : `${first.seed}-${verdicts.at(-1)?.seed}`
  const times = first.times.map(({ what, promisedMs }, index) => {
    const slowest = Math.max(...verdicts.map((one) => one.times[index]?.ms ?? 0))
    return `${what}: ${seconds(slowest)} of ${seconds(promisedMs)}`
  })
  const counts = [
    sum((one) => one.accepted),
    sum((one) => one.lost),
    sum((one) => one.duplicates),
    sum((one) => one.allowed),
  ]
  return `| ${[first.scenario, first.database, seeds, first.faults, ...counts, times.join('; ')].join(' | ')} |`
}

function problems(verdicts: readonly Verdict[]): readonly string[] {
  const broken = verdicts.flatMap((one) =>
    [...one.broken, ...late(one)].map(
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

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}
