import { CODE_TEXTS, ISSUE_TEXTS } from '../../src/code-texts.ts'
import { type IssueCode, type ProblemCode, statusOf } from '../../src/errors.ts'
import { wrapped } from '../support/wrapped.ts'

/** The page `docs/errors.md` with the texts of `src/code-texts.ts`: the first paragraph of each section, with the status, and the meanings of the table. */
export function withCodeTexts(page: string): string {
  return page
    .replace(
      /^(### `([a-z_]+)`\n\n)((?:(?!#)[^\n]+\n)*)/gm,
      (section, heading: string, code: ProblemCode, old: string) => {
        const text = CODE_TEXTS[code]
        if (text === undefined) return section
        return `${heading}${wrapped(`**${statusOf(code)}.** ${text.means} ${text.next}`)}\n${old === '' ? '\n' : ''}`
      },
    )
    .replace(/^\| `([a-z_]+)` \| .*$/gm, (row, code: string) => {
      const text = ISSUE_TEXTS[code as IssueCode]
      return text ? `| \`${code}\` | ${text} |` : row
    })
}
