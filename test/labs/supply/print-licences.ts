import { readJson } from '../../support/entries.ts'
import { licenceOf } from './licences.ts'
import { closureOf, type LockedPackage, lockedPackages, productionClosure } from './lock-file.ts'

/** Prints the licences of the installed packages, of each optional peer's packages, and of all others. */
const locked = lockedPackages()
const production = productionClosure(locked)
const peers = Object.keys(readJson('package.json').peerDependencies)

print('installed with the package', production)
for (const peer of peers) print(`brought by ${peer}, where a host has it`, closureOf([peer], locked))
print('all that it is developed with', [...locked.values()])

function print(what: string, packages: readonly LockedPackage[]): void {
  const byLicence = new Map<string, string[]>()
  for (const one of packages) byLicence.set(licenceOf(one), [...(byLicence.get(licenceOf(one)) ?? []), one.name])
  console.log(`\n${what}: ${packages.length}`)
  for (const [licence, names] of [...byLicence].sort()) {
    const shown = names.length > 12 ? names.length : names.sort().join(', ')
    console.log(`  ${licence}: ${shown}`)
  }
}
