import { posix } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { CHAPTERS, packageDocs, readChapter } from '../../docs/site/portable.ts'
import { proseOf } from '../../docs/site/prose.ts'
import { SUMMARIES } from '../../docs/site/summaries.ts'
import { PROBLEM_CODES, SallyportError } from '../../src/errors.ts'

const docs = packageDocs()
const PAGES = [...docs].filter(([name]) => name.endsWith('.md'))

describe('the docs in the package', () => {
  it('The package has the guides, and neither decisions nor raw figures', () => {
    expect(docs.size).toBeGreaterThan(45)
    for (const name of ['skill.md', 'delivery.md', 'channels/email.md', 'tutorials/production.md', 'llms.txt'])
      expect([...docs.keys()]).toContain(name)
    expect([...docs.keys()].filter((name) => /^(?:decisions|figures|site)\//.test(name))).toEqual([])
  })

  it.each(PAGES)('Every link leads to a page in the package: %s', (name, text) => {
    const links = [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link.replace(/#.*/, ''))
    const targets = links.filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    const paths = targets.map((link) => posix.join(posix.dirname(name), link))
    expect(paths.filter((path) => !docs.has(path))).toEqual([])
  })

  it('Every guide has a sentence about it, and no other page', () => {
    const guides = CHAPTERS.filter((name) => name !== 'decisions').flatMap((name) => readChapter(name).pages)
    const paths = guides.map(([, page]) => page).filter((page) => !page.startsWith('docs/figures/'))
    expect(Object.keys(SUMMARIES).sort()).toEqual([...paths].sort())
  })

  it.each(PAGES)('A page needs no picture: %s', (_, text) => {
    expect(proseOf(text)).not.toMatch(/<picture|<img|!\[/)
  })

  it('An error names the section about its code', () => {
    const faults = [
      'events_invalid',
      'config_invalid',
      'option_invalid',
      'peer_missing',
      'answer_invalid',
      'no_answer',
    ] as const
    for (const code of [...faults, 'record_unreadable' as const, ...PROBLEM_CODES]) {
      const [file, anchor] = new SallyportError(code, 'a fault').docs.replace('sallyport/dist/docs/', '').split('#')
      expect(docs.get(file ?? '')).toContain(`\n### \`${anchor}\`\n`)
    }
  })

  it('The docs make the packed package at most 250 kB larger', () => {
    expect(gzipSync([...docs.values()].join('\n')).length).toBeLessThan(250_000)
  })
})
