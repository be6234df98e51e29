import { readdirSync, readFileSync } from 'node:fs'
import { ROOT } from '../support/entries.ts'

/** Names of the tutorials: `weekly-digest`. */
export function tutorials(): readonly string[] {
  const files = readdirSync(new URL('docs/tutorials/', ROOT))
  return files.flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -'.md'.length)] : [])).sort()
}

/** The page of a tutorial, as a path from the root. */
export function pageFile(name: string): string {
  return `docs/tutorials/${name}.md`
}

/** The file with the code of a tutorial, as a path from the root. */
export function codeFile(name: string): string {
  return `docs/tutorials/${name}.ts`
}

/** The `ts` blocks of a tutorial, joined in their order: one file that runs. */
export function codeOf(name: string): string {
  const page = readFileSync(new URL(pageFile(name), ROOT), 'utf8')
  return [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code).join('\n')
}
