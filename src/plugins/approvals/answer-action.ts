import { isRefused, type Refused } from '../../core/answers/result.ts'
import type { OpenAction, OpenAnswer, OpenRequest } from '../../core/endpoints.ts'
import type { SignedLinks } from '../../core/links/signed-links.ts'
import { headerText, pageAnswers } from '../../pages/page-headers.ts'
import { answerApproval } from './decide-approval.ts'
import type { ApprovalDeps } from './deps.ts'
import type { ApprovalRecord } from './find-approval.ts'
import { type ApprovalLink, LINK_PATH, readApprovalLink } from './links.ts'
import { type AnswerPages, answerPages } from './page/answer-page.ts'
import type { AnswerPageOptions } from './page/answer-page-options.ts'
import type { AnswerView, GivenForm } from './page/answer-view.ts'
import { givenForm, readAnswerForm } from './page/read-answer-form.ts'
import { signedIn } from './signed-in.ts'
import { changeApproval } from './store-approval.ts'
import { type StoredApproval, viewApproval } from './stored-approval.ts'

interface PageDeps extends ApprovalDeps {
  readonly links: SignedLinks
  /** Checked by `answerPageOptions`. */
  readonly page?: AnswerPageOptions | undefined
}

interface Prepared extends PageDeps {
  readonly pages: AnswerPages
  readonly answer: ReturnType<typeof pageAnswers>
}

/**
 * `/api/outbound/approval/{token}`: the page of an approver. `GET` and `HEAD` show it and decide nothing, because scanners open links. `POST` of
 * its form answers.
 */
export function answerAction(deps: PageDeps): OpenAction {
  const pages = answerPages(deps.page)
  const prepared: Prepared = { ...deps, pages, answer: pageAnswers(pages) }
  return {
    name: 'approval_page',
    methods: ['GET', 'HEAD', 'POST'],
    path: LINK_PATH,
    parameter: '{token}',
    maxBytes: 262_144,
    accepts: 'form',
    find(token) {
      const link = readApprovalLink(token, deps.links)
      return link && { handle: async (request) => answerPage(await link, request, prepared) }
    },
  }
}

async function answerPage(link: ApprovalLink | undefined, request: OpenRequest, deps: Prepared): Promise<OpenAnswer> {
  const form = request.method === 'POST' ? formOf(request) : undefined
  let given: GivenForm | undefined
  try {
    const found = link && (await findLinked(link, deps))
    if (!found) return show(404, { show: 'not_found' }, request, deps)
    const { find } = found
    const read = await changeApproval(find, (approval) => approval, deps)
    if (isRefused(read)) return show(404, { show: 'not_found' }, request, deps)
    const stored = read.after
    const proof = proofOf(stored, deps)
    const user = proof === 'session' ? await signedIn(link.tenant, request, deps) : found.user
    if (user === undefined) return show(403, { show: 'sign_in' }, request, deps)
    if (!stored.approvers.includes(user) && proof === 'session')
      return show(403, { show: 'sign_in', user }, request, deps)
    const approval = viewApproval(stored, true)
    const hasAnswered = stored.answers.some((answer) => answer.user === user)
    if (!form)
      return show(200, { show: stored.end || hasAnswered ? 'status' : 'question', approval, user }, request, deps)
    given = givenForm(form, stored.schema)
    const answer = readAnswerForm(form, stored.schema)
    if ('problems' in answer) {
      if (stored.end) return show(409, { show: 'late', approval, user }, request, deps)
      return show(422, { show: 'question', approval, user, ...answer }, request, deps)
    }
    const decided = await answerApproval(find, { ...answer, user }, proof, deps)
    return isRefused(decided)
      ? await showRefused(decided, { user, find }, request, deps)
      : show(200, { show: 'answered', approval: decided, user }, request, deps)
  } catch (cause) {
    deps.report(
      cause,
      { operation: 'store' },
      { level: 'error', event: 'request.failed', fields: { code: 'store_unavailable' } },
    )
    return show(503, { show: 'unavailable', ...(given && { given }) }, request, deps)
  }
}

/** An event that the options do not name any more has the stricter proof that the host can give. */
function proofOf({ eventType }: StoredApproval, { options }: ApprovalDeps): 'link' | 'session' {
  const { proof = 'link' } = options.events[eventType] ?? { proof: options.access ? 'session' : 'link' }
  return proof
}

/** A page that tells which answer holds. */
async function showRefused(
  refused: Refused,
  { user, find }: Linked,
  request: OpenRequest,
  deps: Prepared,
): Promise<OpenAnswer> {
  const record = await find()
  if (!record || refused.refused === 'approval_not_found') return show(404, { show: 'not_found' }, request, deps)
  return show(409, { show: 'late', approval: viewApproval(record.body, true), user }, request, deps)
}

interface Linked {
  readonly user: string
  find(): Promise<ApprovalRecord | undefined>
}

async function findLinked(
  { tenant, dispatchId }: ApprovalLink,
  { records }: ApprovalDeps,
): Promise<Linked | undefined> {
  const [prompt] = await records.prompts.find(tenant, [dispatchId])
  if (!prompt) return undefined
  const { approval, user } = prompt.body
  return { user, find: async () => (await records.approvals.find(tenant, [approval]))[0] }
}

/** The fields of a form. Another body has none. */
function formOf({ headers, body }: OpenRequest): URLSearchParams {
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headerText(headers['content-type']))
  return new URLSearchParams(isForm ? new TextDecoder().decode(body) : '')
}

function show(
  status: number,
  view: AnswerView,
  { headers }: OpenRequest,
  { pages, answer }: Prepared,
): Promise<OpenAnswer> {
  return answer(status, pages.render(view, headerText(headers['accept-language'])))
}
