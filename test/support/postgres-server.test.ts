import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const MODULE = new URL('postgres-server.ts', import.meta.url).href

test('A process with a PostgreSQL server keeps its exit code: a failed run of tests fails its command', () => {
  const program = `await import(${JSON.stringify(MODULE)}); process.exitCode = 3`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', program],
    { encoding: 'utf8', cwd: new URL('../..', import.meta.url) },
  )
  expect([status, stderr]).toEqual([3, ''])
})
