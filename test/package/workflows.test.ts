import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LOADED } from '../architecture/layers.ts'
import { ROOT, readJson } from '../support/entries.ts'

const folder = new URL('.github/workflows/', ROOT)
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
const checks = readFileSync(new URL('.ci/run', ROOT), 'utf8')
const manifest = readJson('package.json')

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, part = '']) => part)

describe.each(workflows)('the workflow $name', ({ text }) => {
  const [head = '', jobs = ''] = text.split(/^jobs:$/m)
  // What is ours is taken from the same commit.
  const actions = found(text, /\buses: *(.+)$/gm).filter((action) => !action.startsWith('./'))

  it('pins every action to a commit, and says which version that is', () => {
    expect(actions.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  })

  it('has permissions, and nothing to write unless a job says so', () => {
    expect(head).toMatch(/^permissions:/m)
    expect(head).not.toMatch(/: write/)
  })

  it('ends by itself', () => {
    const own = found(jobs, /^ {2}(\w+):$/gm).length - found(text, /^ {4}(uses): /gm).length
    expect(found(jobs, /^ {4}timeout-minutes: (\d+)$/gm)).toHaveLength(own)
  })

  it('leaves no credentials behind after a checkout', () => {
    const checkouts = actions.filter((action) => action.startsWith('actions/checkout@'))
    expect(found(text, /(persist-credentials: false)/g)).toHaveLength(checkouts.length)
  })

  it('puts nothing that others can name into a script', () => {
    const scripts = text
      .split('\n')
      .filter((line) => !/^ +(?:group|node-version|name|cancel-in-progress|\w+_\w+): /.test(line))
    expect(scripts.filter((line) => line.includes('${{'))).toEqual([])
  })

  it('calls scripts that are there', () => {
    expect(missingScripts(text)).toEqual([])
  })
})

describe('the checks of .ci/run', () => {
  it('are run by CI', () => {
    expect(workflows.find(({ name }) => name === 'ci.yml')?.text).toContain('run: .ci/run')
  })

  it('call scripts that are there', () => {
    expect(missingScripts(checks)).toEqual([])
  })

  it('give a blank project the peers that entries load, and no other', () => {
    const peers = new Set(
      Object.values(LOADED)
        .flat()
        .filter((name) => name in manifest.peerDependencies),
    )
    const [given = '[]'] = found(checks, /const names = (\[.*\])/g)
    expect(JSON.parse(given)).toEqual([...peers].sort())
  })
})

/** `npm test` and `npm pack` are called without `run`; the latter is npm's own, and builds by `prepack`. */
function missingScripts(text: string): string[] {
  const called = [...found(text, /\bnpm run ([\w:-]+)/g), ...found(text, /\bnpm (test)\b/g)]
  return called.filter((name) => !(name in manifest.scripts))
}
