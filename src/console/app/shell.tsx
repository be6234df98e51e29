import { Boundary } from './boundary.tsx'
import { host } from './host.ts'
import { Empty, ZONE } from './parts.tsx'
import { linkTo, place } from './router.ts'
import { Screen } from './screen.tsx'
import { DispatchScreen } from './screens/dispatch.tsx'
import { DispatchesScreen } from './screens/dispatches.tsx'
import { EventsScreen } from './screens/events.tsx'
import { OverviewScreen } from './screens/overview.tsx'
import { RecipientScreen } from './screens/recipient.tsx'
import { RunScreen } from './screens/run.tsx'
import { RunsScreen } from './screens/runs.tsx'
import { SessionScreen } from './screens/session.tsx'
import { SessionsScreen } from './screens/sessions.tsx'
import { SuppressionsScreen } from './screens/suppressions.tsx'
import { TokensScreen } from './screens/tokens.tsx'

const SECTIONS = [
  ['', 'Overview', 'get_statistics'],
  ['dispatches', 'Dispatches', 'list_dispatches'],
  ['recipients', 'Recipients', 'find_recipient'],
  ['events', 'Events', 'list_events'],
  ['sessions', 'Sessions', 'list_sessions'],
  ['runs', 'Runs', 'list_runs'],
  ['suppressions', 'Suppressions', 'list_suppressions'],
  ['tokens', 'Tokens', 'list_token_uses'],
] as const

export function App() {
  const [section = ''] = place.value.parts
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="title" href={linkTo([])}>
          {host.title}
        </a>
        <nav aria-label="Sections">
          {SECTIONS.filter(([, , read]) => host.offers.has(read)).map(([name, label]) => (
            <a key={name} href={linkTo(name ? [name] : [])} aria-current={section === name ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <small class="who">
          {[
            host.tenant !== 'default' && `tenant ${host.tenant}`,
            host.user,
            !host.canOperate && 'read only',
            `Times are in ${ZONE}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </header>
      <main id="main">
        {!isSecureContext && (
          <p class="notice">
            Over plain HTTP the console only reads. Open it over HTTPS to look an address up, run an event dry, or make
            changes.
          </p>
        )}
        <Boundary title={SECTIONS.find(([name]) => name === section)?.[1] ?? ''}>
          {screenOf(place.value.parts)}
        </Boundary>
      </main>
    </>
  )
}

function screenOf([section = '', id, part, runId]: readonly string[]) {
  const known = SECTIONS.find(([name]) => name === section)
  if (known && !host.offers.has(known[2]))
    return (
      <Screen title={known[1]}>
        <Empty>
          This host does not offer it: its <code>createSallyport</code> has no option or plugin for it.
        </Empty>
      </Screen>
    )
  switch (section) {
    case '':
      return <OverviewScreen />
    case 'dispatches':
      return id ? <DispatchScreen dispatchId={id} key={id} /> : <DispatchesScreen />
    case 'recipients':
      return <RecipientScreen />
    case 'events':
      return <EventsScreen eventType={id} />
    case 'sessions':
      if (id && part === 'runs' && runId) return <RunScreen sessionId={id} runId={runId} key={runId} />
      return id ? <SessionScreen sessionId={id} key={id} /> : <SessionsScreen />
    case 'runs':
      return <RunsScreen />
    case 'suppressions':
      return <SuppressionsScreen />
    case 'tokens':
      return <TokensScreen />
    default:
      return (
        <Screen title="Not found">
          <Empty>The console has no such page. Choose one above.</Empty>
        </Screen>
      )
  }
}
