import { readJson } from '../../support/entries.ts'

/** A package pinned in `package-lock.json`. */
export interface LockedPackage {
  /** Its location, such as `node_modules/bullmq/node_modules/ioredis`. */
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

/** As written in the file: `name` is present only if it differs from the location. */
type Entry = Omit<LockedPackage, 'location' | 'name'> & { readonly name?: string }

/** All pinned packages, by location. */
export function lockedPackages(): ReadonlyMap<string, LockedPackage> {
  const all = Object.entries<Entry>(readJson('package-lock.json').packages)
  const pinned = all.filter(([location]) => location !== '')
  return new Map(pinned.map(([location, entry]) => [location, { ...entry, name: nameOf(location, entry), location }]))
}

/** These packages of the root, with their dependencies. */
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

/** All packages installed with the package. */
export function productionClosure(locked: ReadonlyMap<string, LockedPackage>): LockedPackage[] {
  return closureOf(Object.keys(readJson('package.json').dependencies), locked)
}

/** Optional peers are installed only on request. */
function needs({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: LockedPackage): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** Resolves a name like Node: in the nearest `node_modules` upwards. */
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
