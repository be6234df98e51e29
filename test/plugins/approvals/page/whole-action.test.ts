import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../../src/core/json/canonical-json.ts'
import type { ApprovalAction } from '../../../../src/model/approval.ts'
import { type ApprovalHost, approving, refusal } from '../approving.ts'
import { unescaped } from './approvals.ts'

const MARK = /<span class="mark">U\+([0-9A-F]+)<\/span>/g
const MAX_BYTES = 32_768
/** Text that a page could cut, hide, turn or read as markup. */
const ODD = '</pre><script>&amp;\u202e900\u2066\u200b\u0007\n\t"\\ …'

/** An action whose canonical JSON has this many bytes. Its last argument is the last text. */
function actionOf(bytes: number): ApprovalAction {
  const of = (fill: number): ApprovalAction => ({
    name: 'import',
    args: { account: ODD, amount: 900, list: [{ [ODD]: null }], rows: 'x'.repeat(fill), zz: 'the end' },
  })
  return of(bytes - new TextEncoder().encode(canonicalJson(of(0))).length)
}

/** The page behind the link of the first message. */
async function pageOf({ sallyport, a, get }: ApprovalHost): Promise<string> {
  await sallyport.worker.runDue()
  const [, token = ''] = /approval\/(\S+)$/.exec(String(a.sent[0]?.content.text)) ?? []
  return (await get(token)).text()
}

/** A text of the page as it was before the page escaped it. */
function readBack(html: string): string {
  return unescaped(html.replaceAll(MARK, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16))))
}

describe('the whole action', () => {
  it('The page behind a link has the largest action that may be asked about, character by character', async () => {
    const host = approving()
    const action = actionOf(MAX_BYTES)
    await host.request({ action })
    const html = await pageOf(host)
    expect(readBack(/<pre[^>]*>([\s\S]*?)<\/pre>/.exec(html)?.[1] ?? '')).toBe(canonicalJson(action))
    expect(html.match(/[\u200b\u202e\u2066]/)).toBeNull()
  })

  it('An action of one byte more is refused, not cut', async () => {
    const { request, sallyport } = approving()
    expect(await refusal(request({ action: actionOf(MAX_BYTES + 1) }))).toBe('422 validation_failed /action too_long')
    expect((await sallyport.approvals.list()).items).toEqual([])
  })
})
