import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { layerTable } from '../architecture/layer-table.ts'
import { LAYERS } from '../architecture/layers.ts'
import { ROOT } from '../support/entries.ts'

it('The table of layers equals the tested layers', () => {
  const [, section = ''] = readFileSync(new URL('docs/architecture.md', ROOT), 'utf8').split('\n## Layers\n')
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  expect(rows).toEqual(layerTable(LAYERS))
})
