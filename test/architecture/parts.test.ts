import { expect, it } from 'vitest'
import { allTestFiles, propertyFiles, REST_FILES, testFiles, usesServices } from '../support/parts.ts'

const quick = new Set(testFiles('quick'))
const rest = new Set(testFiles('rest'))

it('Every test file belongs to a part', () => {
  expect(allTestFiles().filter((file) => !quick.has(file) && !rest.has(file))).toEqual([])
})

it('Files that npm test leaves out exist, and run in the other part', () => {
  expect([...REST_FILES].filter((file) => !rest.has(file))).toEqual([])
  expect([...REST_FILES].filter((file) => quick.has(file))).toEqual([])
})

it('Files with properties or services run in the second part too', () => {
  const both = [...propertyFiles(), ...allTestFiles().filter(usesServices)]
  expect(both.length).toBeGreaterThan(100)
  expect(both.filter((file) => !rest.has(file))).toEqual([])
})
