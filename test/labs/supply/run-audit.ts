import { fileURLToPath } from 'node:url'
import { ROOT } from '../../support/entries.ts'
import { type Answer, audit, auditKnownBad, auditSignatures } from './audit.ts'

/** Ends with 1 when something bad is found, with 2 when the registry could not be asked: that is never a pass. */
const folder = fileURLToPath(ROOT)

const canary = await auditKnownBad()
report('the registry knows of vulnerabilities', canary.verdict === 'bad' ? { verdict: 'clean' } : canary, 'gate')
report('what is installed with the package', await audit(folder, 'moderate', '--omit=dev'), 'gate')
report('what it is developed with', await audit(folder, 'high'), 'tell')
report('signatures and provenance', await auditSignatures(folder), 'gate')

function report(what: string, answer: Answer, use: 'gate' | 'tell'): void {
  const { verdict } = answer
  console.log(`${what}: ${verdict === 'no_answer' ? `CANNOT ASK, ${answer.because}` : verdict}`)
  if (answer.verdict === 'bad') for (const line of answer.found) console.log(`  ${line}`)
  if (verdict === 'no_answer') process.exitCode = 2
  else if (verdict === 'bad' && use === 'gate') process.exitCode ??= 1
}
