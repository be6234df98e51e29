import { Boundary } from './boundary.tsx'
import { host } from './host.ts'
import { Empty, ZONE } from './parts.tsx'
import { PLUGIN_SCREENS } from './plugin-screens.ts'
import { linkTo, place } from './router.ts'
import { Screen } from './screen.tsx'
import { DispatchScreen } from './screens/dispatch.tsx'
import { DispatchesScreen } from './screens/dispatches.tsx'
import { EventsScreen } from './screens/events.tsx'
import { RunScreen } from './screens/run.tsx'
import { RunsScreen } from './screens/runs.tsx'
import { SessionScreen } from './screens/session.tsx'
import { SessionsScreen } from './screens/sessions.tsx'
import type { Section } from './section.ts'

const CORE_SECTIONS: readonly Section[] = [
  {
    path: 'dispatches',
    label: 'Dispatches',
    read: 'list_dispatches',
    order: 20,
    screen: (id) => (id ? <DispatchScreen dispatchId={id} key={id} /> : <DispatchesScreen />),
  },
  { path: 'events', label: 'Events', read: 'list_events', order: 40, screen: (id) => <EventsScreen eventType={id} /> },
  { path: 'sessions', label: 'Sessions', read: 'list_sessions', order: 50, screen: sessionScreen },
  { path: 'runs', label: 'Runs', read: 'list_runs', order: 60, screen: () => <RunsScreen /> },
]

const SECTIONS = [...CORE_SECTIONS, ...PLUGIN_SCREENS.flatMap(({ sections = [] }) => sections)].sort(
  (one, other) => one.order - other.order,
)

function sessionScreen(id?: string, part?: string, runId?: string) {
  if (id && part === 'runs' && runId) return <RunScreen sessionId={id} runId={runId} key={runId} />
  return id ? <SessionScreen sessionId={id} key={id} /> : <SessionsScreen />
}

export function App() {
  const [path = '', ...parts] = place.value.parts
  const section = SECTIONS.find((one) => one.path === path)
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
          {SECTIONS.filter(({ read }) => host.offers.has(read)).map(({ path: own, label }) => (
            <a key={own} href={linkTo(own ? [own] : [])} aria-current={path === own ? 'page' : undefined}>
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
        <Boundary title={section?.label ?? ''}>{screenOf(section, parts)}</Boundary>
      </main>
    </>
  )
}

function screenOf(section: Section | undefined, parts: readonly string[]) {
  if (!section)
    return (
      <Screen title="Not found">
        <Empty>The console has no such page. Choose one above.</Empty>
      </Screen>
    )
  if (host.offers.has(section.read)) return section.screen(...parts)
  return (
    <Screen title={section.label}>
      <Empty>
        This host does not offer it: its <code>createSallyport</code> has no option or plugin for it.
      </Empty>
    </Screen>
  )
}
