import { fileURLToPath } from 'node:url'
import { ROOT } from '../../support/entries.ts'
import { type Answer, audit, auditKnownBad, auditSignatures } from './audit.ts'

/** Exits with 1 if a problem is found, and with 2 if the registry cannot be asked, which never counts as a pass. */
const folder = fileURLToPath(ROOT)

const canary = await auditKnownBad()
report('the registry knows vulnerabilities', canary.verdict === 'bad' ? { verdict: 'clean' } : canary, 'gate')
report('packages installed with the package', await audit(folder, 'moderate', '--omit=dev'), 'gate')
report('development dependencies', await audit(folder, 'high'), 'report')
report('signatures and provenance', await auditSignatures(folder), 'gate')

function report(what: string, answer: Answer, use: 'gate' | 'report'): void {
  const { verdict } = answer
  console.log(`${what}: ${verdict === 'no_answer' ? `CANNOT ASK, ${answer.because}` : verdict}`)
  if (answer.verdict === 'bad') for (const line of answer.found) console.log(`  ${line}`)
  if (verdict === 'no_answer') process.exitCode = 2
  else if (verdict === 'bad' && use === 'gate') process.exitCode ??= 1
}
