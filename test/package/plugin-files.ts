import { existsSync, readdirSync } from 'node:fs'
import { ROOT } from '../support/entries.ts'

const FOLDERS = readdirSync(new URL('src/plugins/', ROOT), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()

/** The most characters that Biome leaves on a line. */
const LINE_WIDTH = 120

/** A list of what one file of each plugin exports. */
interface PartList {
  /** Path of these files from the list; `*` stands for the folder of a plugin. A plugin without the file has no line. */
  readonly files: string
  /** End of each name, and of the name of the list. */
  readonly named: string
  readonly type: string
  /** Path of the type. */
  readonly from: string
  readonly about: string
}

const LISTS: Readonly<Record<string, PartList>> = {
  'src/plugins/list.ts': {
    files: './*/describe.ts',
    ...{ named: 'ENDPOINTS', type: 'DescribedEndpoints', from: '../openapi/described-endpoints.ts' },
    about: 'Endpoints of all plugins: for the OpenAPI document and tests.',
  },
  'src/console/app/plugin-screens.ts': {
    files: '../../plugins/*/console/screens.tsx',
    ...{ named: 'SCREENS', type: 'PluginScreens', from: './section.ts' },
    about: 'Screens of all plugins.',
  },
  'src/cli/plugin-commands.ts': {
    files: '../plugins/*/commands.ts',
    ...{ named: 'COMMANDS', type: 'PluginCommands', from: './command.ts' },
    about: 'Additions of all plugins to commands.',
  },
}

/** The files that `npm run entries` writes from the folders of plugins, and what becomes of the text of each. */
export const PLUGIN_FILES: Readonly<Record<string, (text: string) => string>> = {
  ...Object.fromEntries(Object.entries(LISTS).map(([path, list]) => [path, () => listText(new URL(path, ROOT), list)])),
  'src/plugins/index.ts': withExports,
  'test/plugins/list.ts': samplesText,
  'test/plugins/options.ts': optionsText,
}

function withExports(text: string): string {
  const others = text.split('\n').filter((line) => !line.startsWith('export * from'))
  return [...others.slice(0, -1), ...FOLDERS.map((folder) => `export * from './${folder}/index.ts'`), ''].join('\n')
}

function listText(place: URL, { files, named, type, from, about }: PartList): string {
  const fileOf = (folder: string): string => files.replace('*', folder)
  const nameOf = (folder: string): string => `${folder.replaceAll('-', '_').toUpperCase()}_${named}`
  const folders = FOLDERS.filter((folder) => existsSync(new URL(fileOf(folder), place)))
  const imports = [
    { path: from, text: `import type { ${type} }` },
    ...folders.map((folder) => ({ path: fileOf(folder), text: `import { ${nameOf(folder)} }` })),
  ].sort((one, other) => (one.path < other.path ? -1 : 1))
  const start = `export const PLUGIN_${named}: readonly ${type}[] = [`
  const inLine = `${start}${folders.map(nameOf).join(', ')}]`
  const inLines = [start, ...folders.map((folder) => `  ${nameOf(folder)},`), ']'].join('\n')
  return `${imports.map(({ path, text }) => `${text} from '${path}'`).join('\n')}

/** ${about} \`npm run entries\` writes this file from the folders. */
${inLine.length > LINE_WIDTH ? inLines : inLine}
`
}

function samplesText(): string {
  const members = FOLDERS.map((folder) => `  ${nameOf(folder)}: ${nameOf(folder)}Sample,\n`)
  return `import type { PluginSample } from '../support/plugin-sample.ts'
${FOLDERS.map((folder) => `import { ${nameOf(folder)}Sample } from './${folder}/sample.ts'\n`).join('')}
/** Samples of all plugins, by their names. \`npm run entries\` writes this file from the folders. */
export const PLUGIN_SAMPLES: Readonly<Record<string, PluginSample>> = {
${members.join('')}}
`
}

function optionsText(): string {
  const lists = FOLDERS.map((folder) => `  ${nameOf(folder)}Options,\n`)
  return `import type { PluginOptionRows } from '../options/option-rows.ts'
${FOLDERS.map((folder) => `import { ${nameOf(folder)}Options } from './${folder}/options.ts'\n`).join('')}
/** Options of all plugins, for the table of options. \`npm run entries\` writes this file from the folders. */
export const PLUGIN_OPTIONS: readonly PluginOptionRows[] = [
${lists.join('')}]
`
}

/** Name of the plugin of a folder. */
function nameOf(folder: string): string {
  return folder.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
