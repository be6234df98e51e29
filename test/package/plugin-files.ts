import { existsSync, readdirSync } from 'node:fs'
import { ROOT } from '../support/entries.ts'

const FOLDERS = readdirSync(new URL('src/plugins/', ROOT), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()

/** The files that `npm run entries` writes from the folders of plugins, and what becomes of the text of each. */
export const PLUGIN_FILES: Readonly<Record<string, (text: string) => string>> = {
  'src/plugins/list.ts': endpointsText,
  'src/plugins/index.ts': withExports,
  'test/plugins/list.ts': samplesText,
  'test/plugins/options.ts': optionsText,
}

function withExports(text: string): string {
  const others = text.split('\n').filter((line) => !line.startsWith('export * from'))
  return [...others.slice(0, -1), ...FOLDERS.map((folder) => `export * from './${folder}/index.ts'`), ''].join('\n')
}

/** A plugin without endpoints has no `describe.ts`. */
function endpointsText(): string {
  const described = FOLDERS.filter((folder) => existsSync(new URL(`src/plugins/${folder}/describe.ts`, ROOT)))
  const listOf = (folder: string): string => `${folder.replaceAll('-', '_').toUpperCase()}_ENDPOINTS`
  return `import type { DescribedEndpoints } from '../openapi/described-endpoints.ts'
${described.map((folder) => `import { ${listOf(folder)} } from './${folder}/describe.ts'\n`).join('')}
/** Endpoints of all plugins: for the OpenAPI document and tests. \`npm run entries\` writes this file from the folders. */
export const PLUGIN_ENDPOINTS: readonly DescribedEndpoints[] = [
${described.map((folder) => `  ${listOf(folder)},\n`).join('')}]
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
