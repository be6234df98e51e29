import { readJson } from '../../support/entries.ts'

/** A package as `package-lock.json` pins it. */
export interface LockedPackage {
  /** Where it is installed: `node_modules/bullmq/node_modules/ioredis` and its like. */
  readonly location: string
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly inBundle?: boolean
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** As it is written: a name stands only where the location tells another. */
type Entry = Omit<LockedPackage, 'location' | 'name'> & { readonly name?: string }

/** All that the lock file pins, by location. */
export function lockedPackages(): ReadonlyMap<string, LockedPackage> {
  const all = Object.entries<Entry>(readJson('package-lock.json').packages)
  const pinned = all.filter(([location]) => location !== '')
  return new Map(pinned.map(([location, entry]) => [location, { ...entry, name: nameOf(location, entry), location }]))
}

/** These packages of the root, and all that is installed because of them. */
export function closureOf(names: readonly string[], locked: ReadonlyMap<string, LockedPackage>): LockedPackage[] {
  const reached = new Map<string, LockedPackage>()
  const follow = (name: string, from: string): void => {
    const found = resolve(name, from, locked)
    if (reached.has(found.location)) return
    reached.set(found.location, found)
    for (const needed of needs(found)) follow(needed, found.location)
  }
  for (const name of names) follow(name, '')
  return [...reached.values()]
}

/** What is installed with the package. */
export function productionClosure(locked: ReadonlyMap<string, LockedPackage>): LockedPackage[] {
  return closureOf(Object.keys(readJson('package.json').dependencies), locked)
}

/** A peer that is optional comes only when somebody asks for it. */
function needs({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: LockedPackage): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** As Node finds it: in the nearest `node_modules` on the way up. */
function resolve(name: string, from: string, locked: ReadonlyMap<string, LockedPackage>): LockedPackage {
  for (let folder = from; ; folder = parentOf(folder)) {
    const found = locked.get(folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`)
    if (found) return found
    if (folder === '') throw new Error(`The lock file has no ${name} for ${from || 'the root'}`)
  }
}

const parentOf = (location: string): string => location.slice(0, Math.max(0, location.lastIndexOf('/node_modules/')))

function nameOf(location: string, { name }: Entry): string {
  return name ?? location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
