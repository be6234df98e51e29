import type { Layer } from './layers.ts'

/** The three layers that most others may import. */
const CONTRACTS = ['ports', 'model', 'errors']

/** The rows of the table of layers in `docs/architecture.md`. */
export function layerTable(layers: Readonly<Record<string, Layer>>): readonly string[] {
  const rows = Object.entries(layers).map(
    ([path, layer]) => `| \`${path.replace('src/', '')}\` | ${layer.holds} | ${importsOf(layer)} | ${rulesOf(layer)} |`,
  )
  return ['| layer | holds | may import | rules |', '|---|---|---|---|', ...rows]
}

function importsOf({ layers = [], modules = {} }: Layer): string {
  const named = layers.map((path) => path.replace(/^src\//, '').replace(/\/$|\.ts$/, ''))
  const hasContracts = CONTRACTS.every((name) => named.includes(name))
  const shown = hasContracts ? [...named.filter((name) => !CONTRACTS.includes(name)), 'contracts'] : named
  const packages = new Set(Object.values(modules).flat().map(nameOf))
  return [...shown, ...packages].join(', ')
}

/** `Node` for every module of Node; nothing of a file is named. */
function nameOf(module: string): string {
  if (module.startsWith('node:')) return 'Node'
  return /^[@\w./:-]+$/.test(module) ? `\`${module}\`` : "the host's module"
}

function rulesOf({ pure, typesOnly, apart }: Layer): string {
  const rules = [pure && 'pure', typesOnly && 'types only', apart && 'files apart']
  return rules.filter((rule) => rule !== undefined).join(', ')
}
