import { openapiDocument } from '../../src/openapi/index.ts'
import { layerTable } from '../architecture/layer-table.ts'
import { LAYERS } from '../architecture/layers.ts'
import { printJson } from '../openapi/print-json.ts'
import { clientCalls } from '../support/client-calls.ts'
import { withCodeTexts } from './error-sections.ts'
import { optionsPage } from './options-page.ts'
import { inputTable, pathTable } from './path-table.ts'
import { codeFile, codeOf, tutorials } from './tutorials.ts'

const CLIENT_METHODS = await clientCalls()

/** Files that `npm run derive` writes from the code, in whole or in part, and what becomes of the text of each. */
export const DERIVED: Readonly<Record<string, (text: string) => string>> = {
  'docs/architecture.md': (page) => withTable(page, layerTable(LAYERS)),
  'docs/errors.md': withCodeTexts,
  'docs/openapi.json': () => `${printJson(openapiDocument())}\n`,
  'docs/options.md': optionsPage,
  'docs/read-api.md': (page) => withTable(withTable(page, pathTable(CLIENT_METHODS)), inputTable()),
  ...Object.fromEntries(tutorials().map((name) => [codeFile(name), () => codeOf(name)])),
}

/** The page with other rows in the table that has the same head. */
function withTable(page: string, [head = '', ...rows]: readonly string[]): string {
  const lines = page.split('\n')
  const from = lines.indexOf(head)
  if (from < 0) throw new Error(`the page has no table ${head}`)
  const count = lines.slice(from).findIndex((line) => !line.startsWith('|'))
  return lines.toSpliced(from, count, head, ...rows).join('\n')
}
