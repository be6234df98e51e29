import type { TokenUseView } from '../../../model/token-use.ts'
import { ListScreen } from '../list.tsx'
import { Badge, Explained, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { explainRefusal } from '../sentences/refusal.ts'
import { count } from '../words.ts'

export function TokensScreen() {
  return (
    <ListScreen<TokenUseView>
      title="Tokens in use"
      path="agents/tokens/uses"
      filters={[
        { name: 'outcome', label: 'Outcome', options: ['accepted', 'refused'] },
        { name: 'jti', label: 'Token' },
        { name: 'sessionId', label: 'Session' },
      ]}
      empty="No session token was used in the last week. Issue one with issueSessionToken(…) and give it to an agent."
      keyOf={({ jti, time, operation, id, code }) => [jti, time, operation, id, code].join(' ')}
      columns={[
        { head: 'First', cell: ({ time }) => <Time at={time} /> },
        { head: 'Outcome', cell: ({ outcome }) => <Badge>{outcome}</Badge> },
        { head: 'Operation', cell: ({ operation, id }) => <Operation name={operation} id={id} /> },
        { head: 'Why refused', cell: ({ code }) => code && <Refusal code={code} /> },
        { head: 'Times', cell: ({ times }) => count(times) },
        { head: 'Token', cell: ({ jti }) => <a href={linkTo(['tokens'], { jti })}>{jti}</a> },
        { head: 'Session', cell: ({ sessionId }) => <a href={linkTo(['sessions', sessionId])}>{sessionId}</a> },
      ]}
    >
      <p class="intro">What session tokens did in the last week. Equal requests are one line.</p>
    </ListScreen>
  )
}

function Operation({ name, id }: { readonly name: string; readonly id: string | undefined }) {
  return (
    <>
      {name.replaceAll('_', ' ')} {id && <span class="id">{id}</span>}
    </>
  )
}

function Refusal({ code }: { readonly code: string }) {
  return (
    <>
      <code>{code}</code> <Explained of={explainRefusal(code)} />
    </>
  )
}
