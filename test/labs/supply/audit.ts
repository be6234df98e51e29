import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm } from './npm.ts'

/** A registry's answer about packages. No answer never counts as `clean`. */
export type Answer =
  | { readonly verdict: 'clean' }
  | { readonly verdict: 'bad'; readonly found: readonly string[] }
  | { readonly verdict: 'no_answer'; readonly because: string }

/** npm's severities, lowest first. */
const SEVERITIES = ['info', 'low', 'moderate', 'high', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

/** Asks for known vulnerabilities of this severity or higher in the lock file of a folder. */
export async function audit(folder: string, from: Severity, ...options: readonly string[]): Promise<Answer> {
  const { stdout, stderr } = await npm(folder, 'audit', '--json', ...options)
  return readAudit(stdout, from, stderr)
}

/** Checks the registry's signatures of a folder's packages, and the provenance that packages claim. */
export async function auditSignatures(folder: string): Promise<Answer> {
  const { stdout, stderr } = await npm(folder, 'audit', 'signatures', '--json')
  return readSignatures(stdout, stderr)
}

/** Whether the registry knows any vulnerabilities: some answer every request with an empty list. */
export async function auditKnownBad(...options: readonly string[]): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-audit-'))
  const root = { name: 'known-bad', version: '1.0.0', dependencies: { minimist: '0.0.8' } }
  const packages = { '': root, 'node_modules/minimist': { version: '0.0.8' } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(root))
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ ...root, lockfileVersion: 3, packages }))
  try {
    const answer = await audit(folder, 'info', ...options)
    return answer.verdict === 'clean' ? { verdict: 'no_answer', because: 'it calls minimist 0.0.8 clean' } : answer
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A package with its advisories, or the names of the packages through which it is affected. */
interface Vulnerability {
  readonly name: string
  readonly severity: Severity
  readonly via: readonly (string | { readonly url: string })[]
}

const reported = (via: Vulnerability['via'][number]): string => (typeof via === 'string' ? `through ${via}` : via.url)

/** Reads the output of `npm audit --json`. */
export function readAudit(stdout: string, from: Severity, otherwise = ''): Answer {
  const { vulnerabilities, auditReportVersion, ...rest } = parse(stdout)
  if (auditReportVersion !== 2 || typeof vulnerabilities !== 'object') return noAnswer(rest, otherwise)
  const all = Object.values(vulnerabilities as Record<string, Vulnerability>)
  const found = all.filter(({ severity }) => SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(from))
  return judge(found.map(({ name, severity, via }) => [`${name}: ${severity}`, ...via.map(reported)].join(', ')))
}

/** Reads the output of `npm audit signatures --json`. */
export function readSignatures(stdout: string, otherwise = ''): Answer {
  const { invalid, missing, ...rest } = parse(stdout)
  if (!Array.isArray(invalid) || !Array.isArray(missing)) return noAnswer(rest, otherwise)
  const named = (list: { name: string; version: string }[], what: string): string[] =>
    list.map(({ name, version }) => `${name}@${version}: ${what}`)
  return judge([...named(invalid, 'its signature is not true'), ...named(missing, 'it is not signed')])
}

const judge = (found: readonly string[]): Answer =>
  found.length > 0 ? { verdict: 'bad', found } : { verdict: 'clean' }

function noAnswer({ message, error }: Record<string, unknown>, otherwise: string): Answer {
  const { summary } = (error ?? {}) as { summary?: string }
  const [first = ''] = [message, summary, otherwise].filter((text) => typeof text === 'string' && text !== '')
  return { verdict: 'no_answer', because: String(first) || 'npm printed nothing that can be read' }
}

function parse(stdout: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(stdout))
  } catch {
    return {}
  }
}
