import type { Issue } from '../../errors.ts'

const MAX_ISSUES = 50
const MAX_POINTER_CHARACTERS = 8_192

/** The faults of one body, as they are found: never so many, with pointers never so long, that they outgrow the body. */
export class IssueList {
  readonly #issues: Issue[] = []
  #characters = 0

  get issues(): readonly Issue[] {
    return this.#issues
  }

  /** Whether there is no use in looking further. */
  get isFull(): boolean {
    return this.#issues.length >= MAX_ISSUES || this.#characters >= MAX_POINTER_CHARACTERS
  }

  add(issue: Issue): void {
    if (this.isFull) return
    this.#issues.push(issue)
    this.#characters += issue.pointer.length
  }
}

/** As many of the faults as an answer tells. */
export function boundedIssues(issues: readonly Issue[]): readonly Issue[] {
  const list = new IssueList()
  for (const issue of issues) list.add(issue)
  return list.issues
}
