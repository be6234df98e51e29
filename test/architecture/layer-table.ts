import type { Layer } from './layers.ts'

/** The three layers that most others may import. */
const CONTRACTS = ['ports', 'model', 'errors']

/** The longest list of imports in one row. */
const IMPORTS_LENGTH = 68

/** The rows of the table of layers in `docs/architecture.md`. A long list of imports continues in rows without a layer. */
export function layerTable(layers: Readonly<Record<string, Layer>>): readonly string[] {
  const rows = Object.entries(layers).flatMap(([path, layer]) => {
    const [first = '', ...others] = inLines(importsOf(layer))
    return [
      `| \`${path.replace('src/', '')}\` | ${layer.holds} | ${first} | ${rulesOf(layer)} |`,
      ...others.map((imports) => `| | | ${imports} | |`),
    ]
  })
  return ['| layer | holds | may import | rules |', '|---|---|---|---|', ...rows]
}

function importsOf({ layers = [], modules = {} }: Layer): readonly string[] {
  const named = layers.map((path) => path.replace(/^src\//, '').replace(/\/$|\.ts$/, ''))
  const hasContracts = CONTRACTS.every((name) => named.includes(name))
  const shown = hasContracts ? [...named.filter((name) => !CONTRACTS.includes(name)), 'contracts'] : named
  const packages = new Set(Object.values(modules).flat().map(nameOf))
  return [...shown, ...packages]
}

function inLines(imports: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (const name of imports) {
    const longer = `${lines.at(-1)}, ${name}`
    if (lines.length === 0 || longer.length > IMPORTS_LENGTH) lines.push(name)
    else lines[lines.length - 1] = longer
  }
  return lines
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
