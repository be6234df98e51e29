import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))

const ASKED = `
  ok  a mail asks finance@example.com: Approve? Refund 900 USD?
  ok  the page behind its link shows the action, and takes the answer
  ok  the agent goes on, and its tool runs once: 900 USD refunded
`

it('The demo shows that everything arrived, without colours when piped, and exits with 0', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'demo'], { cwd: root })
  expect(stdout).toContain(ASKED)
  expect(stdout).toContain('Everything arrived as expected.')
  expect(stdout).not.toMatch(/^ {2}NO /m)
  expect(stdout).not.toContain('\x1b')
})
