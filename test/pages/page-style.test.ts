import { expect, it } from 'vitest'
import { PAGE_STYLE, styleOf } from '../../src/pages/page-style.ts'
import { colourSchemes, contrast } from './contrast.ts'

it.each([
  ['light', 0],
  ['dark', 1],
])('Texts and buttons have a contrast of at least 4.5 in the %s scheme', (_, scheme) => {
  const colours = colourSchemes(PAGE_STYLE)[scheme] ?? {}
  for (const [text, back] of [
    ['text', 'back'],
    ['muted', 'back'],
    ['label', 'button'],
    ['button', 'back'],
  ] as const)
    expect(contrast(colours[text] ?? '', colours[back] ?? '')).toBeGreaterThanOrEqual(4.5)
})

it('Rules of the host follow, with the line breaks that an HTML parser reads', () => {
  expect(styleOf('a{}', undefined)).toBe('a{}')
  expect(styleOf('a{}', 'b{}\r\nc{}\rd{}')).toBe('a{}\nb{}\nc{}\nd{}')
})
