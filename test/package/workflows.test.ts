import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT, readJson } from '../support/entries.ts'
import { PEER_ENTRIES } from './entries.ts'

const folder = new URL('.github/workflows/', ROOT)
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
const checks = readFileSync(new URL('.ci/run', ROOT), 'utf8')
const manifest = readJson('package.json')

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, part = '']) => part)

describe.each(workflows)('the workflow $name', ({ name, text }) => {
  const [head = '', jobs = ''] = text.split(/^jobs:$/m)
  // Local actions come from the same commit.
  const actions = found(text, /\buses: *(.+)$/gm).filter((action) => !action.startsWith('./'))

  it(`The workflow ${name} pins every action to a commit and states its version`, () => {
    expect(actions.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  })

  it(`The workflow ${name} has read permissions, and only its jobs may write`, () => {
    expect(head).toMatch(/^permissions:/m)
    expect(head).not.toMatch(/: write/)
  })

  it(`The workflow ${name} limits the time of every job`, () => {
    const own = found(jobs, /^ {2}(\w+):$/gm).length - found(text, /^ {4}(uses): /gm).length
    expect(found(jobs, /^ {4}timeout-minutes: (\d+)$/gm)).toHaveLength(own)
  })

  it(`The workflow ${name} keeps no credentials after a checkout`, () => {
    const checkouts = actions.filter((action) => action.startsWith('actions/checkout@'))
    expect(found(text, /(persist-credentials: false)/g)).toHaveLength(checkouts.length)
  })

  it(`The workflow ${name} puts no outside text into a script`, () => {
    const scripts = text
      .split('\n')
      .filter((line) => !/^ +(?:group|node-version|name|cancel-in-progress|\w+_\w+): /.test(line))
    expect(scripts.filter((line) => line.includes('${{'))).toEqual([])
  })

  it(`The workflow ${name} calls only existing scripts`, () => {
    expect(missingScripts(text)).toEqual([])
    expect(found(text, /\b(test\/[\w/-]+\.ts)\b/g).filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([])
  })

  it(`The workflow ${name} installs only from the lock file, without install scripts`, () => {
    const commands = found(text, /\b(npm (?:ci|i|install|exec|update|add)\b.*|npx .*)$/gm)
    expect(commands.filter((command) => !/^(?:npm ci --ignore-scripts|npx tsx test\/\S+)$/.test(command))).toEqual([])
  })

  it(`The workflow ${name} rebuilds only packages on the list of allowed scripts`, () => {
    expect(found(text, /\bnpm rebuild (.*)$/gm).filter((name) => !manifest.allowScripts?.[name])).toEqual([])
  })

  it(`The workflow ${name} uses no secrets and no trigger that runs events of outsiders with write access`, () => {
    expect(text).not.toMatch(/pull_request_target|workflow_run|issue_comment/)
    expect(text).not.toMatch(/secrets[.:[]/)
  })
})

describe('a release', () => {
  const text = workflows.find(({ name }) => name === 'release.yml')?.text ?? ''
  const jobs = Object.fromEntries(
    text.split(/^ {2}(?=\w+:$)/m).map((job): [string, string] => [job.slice(0, job.indexOf(':')), job]),
  )
  const needs = (job: string): string => found(jobs[job] ?? '', /^ {4}needs: (.+)$/gm).join()

  it('The release jobs run in order, each after the one before succeeded', () => {
    expect(['pack', 'publish', 'attest', 'announce'].map(needs)).toEqual(['[ci, audit]', 'pack', 'publish', 'attest'])
  })

  it('No release job with write permissions runs project code', () => {
    const writing = Object.entries(jobs).filter(([, job]) => /: write$/m.test(job))
    expect(writing.map(([name]) => name)).toEqual(['publish', 'attest', 'announce'])
    expect(writing.filter(([, job]) => /npm (?:ci|install|run|test|pack)|npx|actions\/checkout/.test(job))).toEqual([])
  })

  it('The release publishes the tested tarball with provenance from one environment', () => {
    expect(found(text, /\b(npm publish .*)$/gm)).toEqual([
      'npm publish ./sallyport-*.tgz --provenance --access public --ignore-scripts',
    ])
    expect(Object.keys(jobs).filter((name) => /^ {4}environment: npm$/m.test(jobs[name] ?? ''))).toEqual(['publish'])
  })

  it('The release has a signed bill of materials beside the tarball', () => {
    expect(jobs.pack).toContain('npx tsx test/labs/supply/write-sbom.ts')
    expect(jobs.attest).toMatch(/subject-path: sallyport-\*\.tgz\n +sbom-path: sallyport\.cdx\.json\n/)
    expect(jobs.announce).toMatch(/gh release create .* sallyport-\*\.tgz sallyport\.\*\.json /)
  })
})

describe('the audit', () => {
  const text = workflows.find(({ name }) => name === 'audit.yml')?.text ?? ''

  it('The audit runs weekly, for every pull request and before every release', () => {
    expect(text).toMatch(/^ {2}schedule:\n {4}- cron: '\d+ \d+ \* \* [0-6]'$/m)
    expect(text).toMatch(/^ {2}pull_request:$/m)
    expect(text).toMatch(/^ {2}workflow_call:$/m)
    expect(workflows.find(({ name }) => name === 'release.yml')?.text).toContain('./.github/workflows/audit.yml')
  })

  it('The audit script fails without an answer of the registry', () => {
    expect(text).toMatch(/^ {6}- run: npx tsx test\/labs\/supply\/run-audit\.ts$/m)
    expect(text).not.toMatch(/continue-on-error|\|\|/)
  })
})

describe('the checks of .ci/run', () => {
  it('CI runs .ci/run', () => {
    expect(workflows.find(({ name }) => name === 'ci.yml')?.text).toContain('run: .ci/run')
  })

  it('.ci/run calls only existing scripts', () => {
    expect(missingScripts(checks)).toEqual([])
  })

  it('.ci/run installs with `npm ci`', () => {
    expect(found(checks, /\b(npm ci.*)$/gm)).toEqual(['npm ci'])
  })

  it('.ci/run gives a blank project exactly the peers that entries load', () => {
    const peers = new Set(PEER_ENTRIES.map(({ peer }) => peer))
    const [given = '[]'] = found(checks, /const names = (\[.*\])/g)
    expect(JSON.parse(given)).toEqual([...peers].sort())
  })
})

/** `npm test` runs without `run`. */
function missingScripts(text: string): string[] {
  const called = [...found(text, /\bnpm run ([\w:-]+)/g), ...found(text, /\bnpm (test)\b/g)]
  return called.filter((name) => !(name in manifest.scripts))
}
