import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT, readJson } from '../support/entries.ts'

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const FILES = readdirSync(new URL('docs/figures/', ROOT))
const scripts: Readonly<Record<string, string>> = readJson('package.json').scripts

/** Pages whose figures come from files of `docs/figures/`, with the links to that folder. */
const PAGES = ['README.md', 'docs/figures.md']

describe('figures', () => {
  it.each(PAGES)('Every file of figures that %s names exists', (page) => {
    const folder = page.replace(/[^/]+$/, '')
    const links = [...read(page).matchAll(/\]\(([^)#]*)/g)].map(([, link = '']) => `${folder}${link}`)
    const figures = links.filter((link) => /figures\/[^/]*\.md$/.test(link))
    expect(figures).not.toEqual([])
    expect(figures.filter((link) => !existsSync(new URL(link, ROOT)))).toEqual([])
  })

  it.each(FILES)('Every output in %s has its command, date, machine and load', (file) => {
    const [head = '', ...sections] = read(`docs/figures/${file}`).split(/^## /m)
    expect(head).toMatch(/^# \S/)
    expect(sections.length).toBeGreaterThan(0)
    for (const section of sections) {
      const [title = ''] = section.split('\n')
      expect(title).toMatch(/^`.+`$/)
      expect(section).toMatch(/^- Date: \d{4}-\d\d-\d\dT\d\d:\d\dZ, \d+ s, exit 0$/m)
      expect(section).toMatch(/^- Machine: \d+ cores of .+, \d+ GiB, \w+ [\d.]+, Node v\d+\.\d+\.\d+$/m)
      expect(section).toMatch(/^- Load average of the machine: [\d.]+ before, [\d.]+ after$/m)
      expect(section).toMatch(/^```text\n[^`]+^```$/m)
      expect(section).toContain(`- Date: ${file.replace('.md', '')}`)
    }
  })

  it('The page of figures lists exactly the files of the folder', () => {
    const rows = read('docs/figures.md').matchAll(/^\| \[[\d-]+\]\(figures\/([\d-]+\.md)\)/gm)
    const listed = [...rows].map(([, name]) => name)
    expect(listed).toEqual(FILES)
  })

  it('Every npm script that the pages name exists', () => {
    const named = PAGES.flatMap((page) => [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name))
    expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([])
  })

  it('The figures of the chaos tests have their command, date and machine', () => {
    const page = read('docs/figures.md')
    const written = [...page.matchAll(/^<!-- (?:figures|peers): written .+$/gm)]
    const headed = [
      ...page.matchAll(
        /^Measured \d{4}-\d\d-\d\d by `npm run chaos -- [^`]+`, [^|`]+?\son\s\d+\scores\sof\s[^|`]+\.$/gm,
      ),
    ]
    expect([written.length, headed.length]).toEqual([2, 2])
  })

  it('Each row of the README about what holds links an output', () => {
    const [, section = ''] = read('README.md').split('## What holds\n')
    const [table = ''] = section.split('\n## ')
    const rows = table
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(1)
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).toMatch(/\]\(docs\/figures\/\d{4}-\d\d-\d\d\.md\) \|$/)
  })
})
