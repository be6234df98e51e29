import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
    expect(found(text, /\b(test\/[\w/-]+\.ts)\b/g).filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([])
  })

  it('installs what the lock file pins, without its scripts, and no package by name', () => {
    const commands = found(text, /\b(npm (?:ci|i|install|exec|update|add)\b.*|npx .*)$/gm)
    expect(commands.filter((command) => !/^(?:npm ci --ignore-scripts|npx tsx test\/\S+)$/.test(command))).toEqual([])
  })

  it('rebuilds what needs its script, and nothing else', () => {
    expect(found(text, /\bnpm rebuild (.*)$/gm).filter((name) => !manifest.allowScripts?.[name])).toEqual([])
  })

  it('is started by nobody from outside with rights of ours', () => {
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

  it('goes from one job to the next only when all before it were green', () => {
    expect(['pack', 'publish', 'attest', 'announce'].map(needs)).toEqual(['[ci, audit]', 'pack', 'publish', 'attest'])
  })

  it('gives nothing that can be written with to a job that runs what others wrote', () => {
    const writing = Object.entries(jobs).filter(([, job]) => /: write$/m.test(job))
    expect(writing.map(([name]) => name)).toEqual(['publish', 'attest', 'announce'])
    expect(writing.filter(([, job]) => /npm (?:ci|install|run|test|pack)|npx|actions\/checkout/.test(job))).toEqual([])
  })

  it('publishes the tarball that was tested, with provenance, from the one environment that may', () => {
    expect(found(text, /\b(npm publish .*)$/gm)).toEqual([
      'npm publish ./sallyport-*.tgz --provenance --access public --ignore-scripts',
    ])
    expect(Object.keys(jobs).filter((name) => /^ {4}environment: npm$/m.test(jobs[name] ?? ''))).toEqual(['publish'])
  })

  it('has a bill of materials of what was published: signed, and beside it', () => {
    expect(jobs.pack).toContain('npx tsx test/labs/supply/write-sbom.ts')
    expect(jobs.attest).toMatch(/subject-path: sallyport-\*\.tgz\n +sbom-path: sallyport\.cdx\.json\n/)
    expect(jobs.announce).toMatch(/gh release create .* sallyport-\*\.tgz sallyport\.\*\.json /)
  })
})

describe('the registry', () => {
  const text = workflows.find(({ name }) => name === 'audit.yml')?.text ?? ''

  it('is asked every week, for every pull request and before every release', () => {
    expect(text).toMatch(/^ {2}schedule:\n {4}- cron: '\d+ \d+ \* \* [0-6]'$/m)
    expect(text).toMatch(/^ {2}pull_request:$/m)
    expect(text).toMatch(/^ {2}workflow_call:$/m)
    expect(workflows.find(({ name }) => name === 'release.yml')?.text).toContain('./.github/workflows/audit.yml')
  })

  it('is asked by the script for which no answer is a failure', () => {
    expect(text).toMatch(/^ {6}- run: npx tsx test\/labs\/supply\/run-audit\.ts$/m)
    expect(text).not.toMatch(/continue-on-error|\|\|/)
  })
})

describe('the checks of .ci/run', () => {
  it('are run by CI', () => {
    expect(workflows.find(({ name }) => name === 'ci.yml')?.text).toContain('run: .ci/run')
  })

  it('call scripts that are there', () => {
    expect(missingScripts(checks)).toEqual([])
  })

  it('install what the lock file pins, as the README says it', () => {
    expect(found(checks, /\b(npm ci.*)$/gm)).toEqual(['npm ci'])
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
