import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '../../../src/cli/run-command.ts'
import { sallyport as hostOf } from '../../cli/sallyport.ts'

const MODULE = fileURLToPath(new URL('../../cli/sallyport.ts', import.meta.url))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-status-'))
  process.env.CLI_TEST_FILE = join(folder, 'test.db')
})
afterEach(() => {
  delete process.env.CLI_TEST_FILE
  rmSync(folder, { recursive: true })
})

/** The output of a command that succeeds. */
async function outputOf(...args: readonly string[]): Promise<string> {
  let output = ''
  const out = (text: string): void => {
    output += text
  }
  const code = await runCommand(args, {
    ...{ env: { SALLYPORT_MODULE: MODULE }, cwd: folder, isInteractive: false },
    ...{ out, err: out },
  })
  expect(code).toBe(0)
  return output
}

it('The command status shows what is due and the workers alive', async () => {
  const host = hostOf()
  await (host.store as unknown as { migrate(): Promise<void> }).migrate()
  await host.worker.runDue()
  expect(JSON.parse(await outputOf('status', '--json'))).toMatchObject({
    due: { count: 0, isMore: false },
    workersAlive: 1,
  })
  expect(await outputOf('status', '--tenant', 'other')).toMatch(
    /due\t0\noldest due \(seconds\)\t0\nworkers alive\t1\n$/,
  )
})
