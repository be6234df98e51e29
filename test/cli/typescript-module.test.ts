import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const REMEDY = `npm install tsx and set NODE_OPTIONS='--import tsx', or use Node 22.18, 23.6 or newer`
/** Versions of Node that import TypeScript have this feature; the types of Node 20 lack it. */
const importsTypeScript = Boolean(Reflect.get(process.features, 'typescript'))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-cli-'))
  const outfile = join(folder, 'cli.mjs')
  buildSync({ entryPoints: [MAIN], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs `sallyport list` in JavaScript, without the loader of the tests. */
function listed(module: string, nodeOptions = ''): { readonly status: number | null; readonly stderr: string } {
  const env = { ...process.env, NODE_OPTIONS: nodeOptions }
  return spawnSync(process.execPath, ['cli.mjs', 'list', '--module', module], { cwd: folder, env, encoding: 'utf8' })
}

describe.skipIf(importsTypeScript)('on a Node that imports no TypeScript', () => {
  it.each(['sallyport.mts', 'sallyport.ts', 'sallyport.cts'])('The error for %s names the remedy', (name) => {
    writeFileSync(join(folder, name), 'export const port: number = 1\n')
    expect(listed(name)).toMatchObject({ status: 1, stderr: expect.stringContaining(REMEDY) })
  })

  it('The error for a module that imports TypeScript names the remedy', () => {
    writeFileSync(join(folder, 'port.ts'), 'export const port: number = 1\n')
    writeFileSync(join(folder, 'sallyport.mjs'), "export { port } from './port.ts'\n")
    expect(listed('sallyport.mjs')).toMatchObject({ status: 1, stderr: expect.stringContaining(REMEDY) })
  })

  it('The error for another unknown extension names no remedy', () => {
    writeFileSync(join(folder, 'sallyport.txt'), '')
    const { status, stderr } = listed('sallyport.txt')
    expect([status, stderr]).toEqual([1, expect.stringContaining('Unknown file extension ".txt"')])
    expect(stderr).not.toContain('tsx')
  })
})

it('With the remedy, the command imports TypeScript', () => {
  writeFileSync(join(folder, 'host.mts'), 'export const port: number = 1\n')
  expect(listed('host.mts', `--import ${import.meta.resolve('tsx')}`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('exports no Sallyport'),
  })
})
