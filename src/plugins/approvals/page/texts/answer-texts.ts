/** Texts of the answer page. `{name}` stands for a value, where a text has it. */
export interface AnswerTexts {
  /** Heading and title. */
  readonly title: string
  /** Before the person who answers. */
  readonly user: string
  readonly requester: string
  readonly session: string
  readonly run: string
  /** Before the end of the time to answer. */
  readonly until: string
  /** Heading above the name of the tool. */
  readonly action: string
  readonly argument: string
  readonly value: string
  readonly noArguments: string
  /** Heading above the canonical JSON of the action. */
  readonly json: string
  /** Before the SHA-256 of that JSON. */
  readonly digest: string
  /** Heading above the answers of approvers. */
  readonly answers: string
  /** Has `{user}`. */
  readonly userAccepted: string
  /** Has `{user}`. */
  readonly userDeclined: string
  /** Has `{count}` and `{required}`. */
  readonly quorum: string
  /** Before the approvers who have not answered yet. */
  readonly pending: string
  /** Heading above the form. */
  readonly answer: string
  /** Mark of a field that must be filled in. */
  readonly required: string
  readonly yes: string
  readonly no: string
  /** Choice of a field that may be left out. */
  readonly none: string
  /** Says that a field takes a time in UTC. */
  readonly utc: string
  readonly comment: string
  /** Has `{most}`. */
  readonly commentHint: string
  /** Button. */
  readonly accept: string
  /** Button. */
  readonly decline: string
  /** Above the list of problems of a form. */
  readonly problems: string
  readonly problemRequired: string
  readonly problemNumber: string
  readonly problemWhole: string
  readonly problemEmail: string
  readonly problemUri: string
  readonly problemDate: string
  readonly problemTime: string
  /** Has `{least}`: characters. */
  readonly problemShort: string
  /** Has `{most}`: characters. */
  readonly problemLong: string
  /** Has `{least}`. */
  readonly problemBelow: string
  /** Has `{most}`. */
  readonly problemAbove: string
  /** Has `{least}` and `{most}`. */
  readonly problemRange: string
  readonly problemChoice: string
  /** Has `{least}`: choices. */
  readonly problemFew: string
  /** Has `{most}`: choices. */
  readonly problemMany: string
  readonly problemInvalid: string
  /** The form has neither button. */
  readonly problemAnswer: string
  readonly doneAccepted: string
  readonly doneDeclined: string
  /** The answer came after the end, or after another answer of the same person. */
  readonly late: string
  /** This person has answered, others have not. */
  readonly waiting: string
  readonly accepted: string
  readonly declined: string
  readonly expired: string
  readonly cancelled: string
  /** The accepted action was used. */
  readonly consumed: string
  /** Only people who are signed in may answer, and this one is not. */
  readonly signIn: string
  /** Has `{user}`: is signed in, and no approver. */
  readonly notAsked: string
  readonly notFound: string
  readonly failed: string
  /** Button that sends the same form again. */
  readonly retry: string
}
