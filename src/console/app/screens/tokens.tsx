import type { TokenUseView } from '../../../model/token-use.ts'
import { type Page, useRead, withQuery } from '../api.ts'
import { Badge, count, Filter, List, queryOf, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { Screen } from '../shell.tsx'

export function TokensScreen() {
  const read = useRead<Page<TokenUseView>>(withQuery('agents/tokens/uses', queryOf(['jti', 'sessionId', 'outcome'])))
  return (
    <Screen title="Tokens in use">
      <p>What session tokens did in the last week. Equal requests are one line.</p>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Filter name="outcome" label="Outcome" options={['accepted', 'refused']} />
        <Filter name="jti" label="Token" />
        <Filter name="sessionId" label="Session" />
      </form>
      <List
        of={read}
        label="Uses of tokens"
        empty="No session token was used in the last week."
        keyOf={({ jti, time, operation, id, code }) => [jti, time, operation, id, code].join(' ')}
        columns={[
          { head: 'First', cell: ({ time }) => <Time at={time} /> },
          { head: 'Token', cell: ({ jti }) => <a href={linkTo(['tokens'], { jti })}>{jti}</a> },
          { head: 'Session', cell: ({ sessionId }) => <a href={linkTo(['sessions', sessionId])}>{sessionId}</a> },
          { head: 'Operation', cell: ({ operation }) => operation },
          { head: 'Outcome', cell: ({ outcome }) => <Badge>{outcome}</Badge> },
          { head: 'Code', cell: ({ code }) => code && <code>{code}</code> },
          { head: 'Of', cell: ({ id }) => id },
          { head: 'Times', cell: ({ times }) => count(times) },
        ]}
      />
    </Screen>
  )
}
