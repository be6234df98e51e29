import { ListScreen } from '../../../console/app/list.tsx'
import { Badge, Explained, Link, Time } from '../../../console/app/parts.tsx'
import { count, textOf } from '../../../console/app/words.ts'
import type { TokenUseView } from '../../../model/token-use.ts'
import { explainRefusal } from './explain-refusal.ts'

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
        { head: 'Why refused', cell: ({ code }) => code !== undefined && <Refusal code={code} /> },
        { head: 'Times', cell: ({ times }) => count(times) },
        {
          head: 'Token',
          cell: ({ jti }) => (
            <Link to={['tokens']} query={{ jti }}>
              {jti}
            </Link>
          ),
        },
        { head: 'Session', cell: ({ sessionId }) => <Link to={['sessions', sessionId]} /> },
      ]}
    >
      <p class="intro">What session tokens did in the last week. Equal requests are one line.</p>
    </ListScreen>
  )
}

function Operation({ name, id }: { readonly name: unknown; readonly id: unknown }) {
  return (
    <>
      {textOf(name).replaceAll('_', ' ')} {id !== undefined && <span class="id">{textOf(id)}</span>}
    </>
  )
}

function Refusal({ code }: { readonly code: unknown }) {
  return (
    <>
      <code>{textOf(code)}</code> <Explained of={explainRefusal(code)} />
    </>
  )
}
