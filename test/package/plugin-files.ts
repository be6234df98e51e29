import { existsSync, readdirSync } from 'node:fs'
import { ROOT } from '../support/entries.ts'

/** Names of the folders of `src/plugins/`: one for each plugin. */
const PLUGIN_FOLDERS: readonly string[] = readdirSync(new URL('src/plugins/', ROOT), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()

/** Lines of `src/plugins/index.ts`: the exports of every plugin. */
export function pluginExports(): readonly string[] {
  return PLUGIN_FOLDERS.map((folder) => `export * from './${folder}/index.ts'`)
}

/** The text of `src/plugins/list.ts`: the endpoints of every plugin that has a `describe.ts`. */
export function pluginListText(): string {
  const described = PLUGIN_FOLDERS.filter((folder) => existsSync(new URL(`src/plugins/${folder}/describe.ts`, ROOT)))
  const names = described.map((folder) => `${folder.replaceAll('-', '_').toUpperCase()}_ENDPOINTS`)
  return `import type { DescribedEndpoints } from '../openapi/described-endpoints.ts'
${described.map((folder, at) => `import { ${names[at]} } from './${folder}/describe.ts'\n`).join('')}
/** Endpoints of all plugins: for the OpenAPI document and tests. \`npm run entries\` writes this file from the folders. */
export const PLUGIN_ENDPOINTS: readonly DescribedEndpoints[] = [
${names.map((name) => `  ${name},\n`).join('')}]
`
}
