import { CODE_TEXTS, ISSUE_TEXTS } from '../../src/code-texts.ts'
import type { IssueCode, ProblemCode } from '../../src/errors.ts'
import { wrapped } from './wrapped.ts'

/** The page `docs/errors.md` with the texts of `src/code-texts.ts`: the first paragraph of each section, and the meanings of the table. */
export function withCodeTexts(page: string): string {
  return page
    .replace(
      /^(### `([a-z_]+)` · \d{3}\n\n)((?:(?!#)[^\n]+\n)*)/gm,
      (section, heading: string, code: string, old: string) => {
        const text = CODE_TEXTS[code as ProblemCode]
        return text ? `${heading}${wrapped(`${text.means} ${text.next}`)}\n${old === '' ? '\n' : ''}` : section
      },
    )
    .replace(/^\| `([a-z_]+)` \| .*$/gm, (row, code: string) => {
      const text = ISSUE_TEXTS[code as IssueCode]
      return text ? `| \`${code}\` | ${text} |` : row
    })
}
