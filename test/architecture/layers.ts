/** Allowed imports of one layer. A layer may always import from itself, unless it is `apart`. */
export interface Layer {
  /** The content in a few words. */
  readonly holds: string
  /** Keys of other layers. */
  readonly layers?: readonly string[]
  /** Packages and `node:` modules, for files whose path has this prefix. */
  readonly modules?: Readonly<Record<string, readonly string[]>>
  /** Interfaces and types only: nothing remains at run time. */
  readonly typesOnly?: true
  /** The files of the layer do not import one another. */
  readonly apart?: true
  /** Same input, same output: no clock, randomness, environment or network. */
  readonly pure?: true
}

const CONTRACTS = ['src/ports/', 'src/model/', 'src/errors.ts']

/** Folders of SQL: each imports only from those before it. */
const SQL_FOLDERS = ['tables', 'dialects', 'connection', 'records', 'schema'].map((name) => `src/storage/sql/${name}/`)
const SQL_ALL = ['src/storage/engine/', 'src/storage/rules/', ...CONTRACTS]

/**
 * The layers of `src/`, by path; `*` stands for one folder, and the longest matching key applies. Type imports count too, and all other imports are
 * forbidden. See `docs/architecture.md`.
 */
export const LAYERS: Readonly<Record<string, Layer>> = {
  'src/errors.ts': { holds: 'error codes', pure: true },
  'src/code-texts.ts': { holds: 'what each error code means, and what helps', layers: ['src/errors.ts'], pure: true },
  'src/model/': {
    holds: 'readonly values and their parsers',
    layers: ['src/errors.ts'],
    pure: true,
  },
  'src/ports/': { holds: 'interfaces', layers: ['src/model/', 'src/errors.ts'], typesOnly: true, pure: true },
  'src/options/': {
    holds: 'reading of options and their problems',
    layers: ['src/model/', 'src/errors.ts'],
    pure: true,
  },
  'src/pages/': {
    holds: 'pages for people who follow a link, and checks of their options',
    layers: ['src/options/', ...CONTRACTS],
    pure: true,
  },
  'src/usage/': {
    holds: 'reading of the usage objects of providers',
    layers: ['src/model/', 'src/errors.ts'],
    pure: true,
  },
  'src/core/': {
    holds: 'both handlers and every business rule',
    layers: ['src/usage/', 'src/options/', ...CONTRACTS],
    modules: { 'src/core/': ['valibot'] },
    pure: true,
  },
  'src/core/tokens/': {
    holds: 'exchange, revocation and uses of session tokens',
    layers: ['src/core/', 'src/options/', ...CONTRACTS],
    modules: { 'src/core/tokens/': ['valibot'] },
    pure: true,
  },
  'src/http/': {
    holds: 'everything specific to HTTP',
    layers: ['src/core/', 'src/options/', 'src/runtime/', ...CONTRACTS],
    modules: { 'src/http/node-bridge.ts': ['node:buffer'] },
  },
  'src/adapters/': { holds: 'one thin mount per framework', layers: ['src/http/', 'src/options/'], apart: true },
  'src/auth/': {
    holds: 'verifiers of credentials',
    layers: ['src/options/', 'src/runtime/', ...CONTRACTS],
    modules: { 'src/auth/': ['jose'] },
  },
  'src/channels/': {
    holds: 'ways to reach a recipient',
    layers: ['src/runtime/', 'src/options/', ...CONTRACTS],
    modules: {
      'src/channels/webhook-channel.ts': ['node:dns/promises'],
      'src/channels/webhook-guard.ts': ['ipaddr.js', 'node:dns', 'node:net'],
      'src/channels/webhook-request.ts': ['node:http', 'node:https', 'node:net'],
      'src/channels/webhook-signature.ts': ['node:crypto'],
    },
  },
  'src/feedback/': {
    holds: 'events that providers report about messages',
    layers: ['src/runtime/', 'src/options/', ...CONTRACTS],
    modules: { 'src/feedback/': ['node:crypto'] },
  },
  'src/engines/': {
    holds: 'template and condition languages',
    layers: ['src/options/', ...CONTRACTS],
    modules: { 'src/engines/json-logic': ['json-logic-engine'], 'src/engines/liquid': ['liquidjs'] },
  },
  'src/policies/': { holds: 'rules for sending: whether and when', layers: ['src/options/', ...CONTRACTS], pure: true },
  'src/rate-limits/': { holds: 'limits of requests', layers: ['src/options/', ...CONTRACTS] },
  'src/pricing/': { holds: 'prices of tokens', layers: ['src/options/', ...CONTRACTS], pure: true },
  'src/openapi/': {
    holds: 'schemas and operations of OpenAPI',
    layers: ['src/code-texts.ts', 'src/core/', 'src/core/tokens/', 'src/options/', ...CONTRACTS],
    modules: { 'src/openapi/': ['valibot', '@valibot/to-json-schema'] },
  },
  'src/openapi/index.ts': {
    holds: 'the OpenAPI document',
    layers: [
      'src/openapi/',
      'src/actions/',
      'src/actions/describe',
      'src/plugins/list.ts',
      'src/core/',
      'src/options/',
      ...CONTRACTS,
    ],
  },
  'src/console/': {
    holds: 'console in a browser',
    layers: ['src/core/', 'src/http/', 'src/options/', 'src/pages/', ...CONTRACTS],
    modules: { 'src/console/': ['sallyport:console-assets'] },
  },
  'src/console/app/': {
    holds: 'screens of the console',
    layers: ['src/console/app/plugin-screens.ts', ...CONTRACTS],
    modules: { 'src/console/app/': ['preact', '@preact/signals'] },
  },
  'src/console/app/plugin-screens.ts': {
    holds: 'the screens of all plugins, for the console alone',
    layers: ['src/plugins/*/console/', 'src/console/app/'],
  },
  'src/client/': { holds: 'client of the endpoints', layers: ['src/options/', ...CONTRACTS] },
  'src/integrations/': {
    holds: 'recorders of the runs of other libraries',
    layers: ['src/client/', 'src/usage/', 'src/options/', ...CONTRACTS],
  },
  'src/integrations/approvals/': {
    holds: 'questions of the agents of other libraries to people',
    layers: ['src/integrations/', 'src/client/', 'src/core/', 'src/options/', ...CONTRACTS],
  },
  'src/otel/': {
    holds: 'runs as OpenTelemetry spans and metrics',
    layers: ['src/options/', ...CONTRACTS],
    modules: { 'src/otel/': ['@opentelemetry/api'] },
  },
  'src/queues/': {
    holds: 'wake-up signals for workers',
    layers: ['src/runtime/', 'src/options/', ...CONTRACTS],
    modules: { 'src/queues/bullmq.ts': ['bullmq'], 'src/queues/redis-connections.ts': ['bullmq'] },
  },
  'src/runtime/': {
    holds: 'default clock, ids and logger, hashes, loading of peers',
    layers: ['src/options/', ...CONTRACTS],
  },
  'src/storage/rules/': { holds: 'rules of deliveries and sums', layers: CONTRACTS, pure: true },
  'src/storage/engine/': {
    holds: 'one store over records',
    layers: ['src/storage/rules/', 'src/options/', ...CONTRACTS],
  },
  'src/storage/': {
    holds: 'records of each database, and their stores',
    layers: ['src/storage/engine/', 'src/storage/rules/', 'src/options/', ...CONTRACTS],
  },
  'src/storage/sql/': {
    holds: 'records in SQL, and their store',
    layers: [...SQL_FOLDERS, ...SQL_ALL, 'src/options/'],
  },
  'src/storage/sql/tables/': { holds: 'tables of the kinds, and their columns', layers: SQL_ALL },
  'src/storage/sql/dialects/': {
    holds: 'what differs between databases',
    layers: ['src/storage/sql/tables/', ...SQL_ALL],
  },
  'src/storage/sql/connection/': {
    holds: "statements on the host's connection",
    layers: [...SQL_FOLDERS.slice(0, 2), ...SQL_ALL],
    modules: { 'src/storage/sql/connection/': ['kysely'] },
  },
  'src/storage/sql/records/': {
    holds: 'calls of the port, one file each',
    layers: [...SQL_FOLDERS.slice(0, 3), ...SQL_ALL],
  },
  'src/storage/sql/schema/': {
    holds: 'migrations and their check',
    layers: [...SQL_FOLDERS.slice(0, 4), ...SQL_ALL],
  },
  'src/contract-tests/': {
    holds: 'contracts of the ports, and test tools',
    layers: ['src/storage/engine/', 'src/options/', ...CONTRACTS],
    modules: { 'src/contract-tests/assertions.ts': ['node:assert/strict'] },
  },
  'src/services/': {
    holds: 'methods of a Sallyport: dispatches, runs, sessions, tokens, recipients',
    layers: ['src/core/', 'src/core/tokens/', 'src/options/', ...CONTRACTS],
  },
  'src/actions/': {
    holds: 'the table of actions: routes, inputs and calls',
    layers: ['src/core/', 'src/services/', ...CONTRACTS],
    pure: true,
  },
  'src/actions/describe': {
    holds: 'texts and answers of the actions',
    layers: ['src/openapi/', ...CONTRACTS],
    pure: true,
  },
  'src/plugins/plugin.ts': {
    holds: 'what a plugin is: its parts, and what it gets',
    layers: ['src/core/', 'src/services/', ...CONTRACTS],
    typesOnly: true,
    pure: true,
  },
  'src/plugins/': {
    holds: 'features of a host, one folder each',
    layers: [
      'src/plugins/plugin.ts',
      'src/core/',
      'src/core/tokens/',
      'src/services/',
      'src/options/',
      'src/pages/',
      'src/runtime/',
      ...CONTRACTS,
    ],
    modules: { 'src/plugins/': ['valibot'] },
  },
  'src/plugins/*/describe.ts': {
    holds: 'endpoints of one plugin, with texts and answers',
    layers: ['src/plugins/', 'src/openapi/', ...CONTRACTS],
    pure: true,
  },
  'src/plugins/list.ts': {
    holds: 'the endpoints of all plugins, for the OpenAPI document',
    layers: ['src/plugins/*/describe.ts', 'src/openapi/'],
  },
  'src/plugins/*/console/': {
    holds: 'screens of one plugin',
    layers: ['src/console/app/', 'src/pages/', 'src/code-texts.ts', ...CONTRACTS],
    modules: { 'src/plugins/': ['preact', 'uplot'] },
  },
  'src/plugins/*/commands.ts': {
    holds: 'additions of one plugin to commands',
    layers: ['src/plugins/', 'src/cli/', ...CONTRACTS],
  },
  'src/compose/': {
    holds: 'createSallyport and its options',
    layers: [
      'src/plugins/plugin.ts',
      'src/core/',
      'src/core/tokens/',
      'src/actions/',
      'src/services/',
      'src/options/',
      'src/policies/',
      'src/queues/',
      'src/runtime/',
      ...CONTRACTS,
    ],
  },
  'src/cli/': {
    holds: 'the command line',
    layers: [
      'src/cli/plugin-commands.ts',
      'src/auth/',
      'src/compose/',
      'src/services/',
      'src/storage/sql/',
      ...CONTRACTS,
    ],
    modules: {
      'src/cli/arguments.ts': ['node:util'],
      // The host's own module, which the user names.
      'src/cli/host-module.ts': ['node:fs', 'node:path', 'node:url', 'pathToFileURL(file).href'],
      'src/cli/init/': ['node:fs', 'node:path'],
      'src/cli/main.ts': ['node:process'],
    },
  },
  'src/cli/plugin-commands.ts': {
    holds: 'additions of all plugins to commands',
    layers: ['src/plugins/*/commands.ts', 'src/cli/'],
  },
  'src/index.ts': {
    holds: 'the root entry',
    layers: ['src/core/', 'src/compose/', 'src/services/', ...CONTRACTS],
  },
}

/**
 * The folders of a folder, lowest first, with the other ones that each may import. `''` stands for the files directly in
 * it. `dispatch/` and `delivery/` do not import one another: what both need stands below them.
 */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'src/core/': {
    'answers/': [],
    'json/': ['answers/'],
    'load/': ['answers/'],
    '': ['answers/', 'json/', 'load/'],
    'message/': ['answers/'],
    'links/': [],
    'dispatch/': ['answers/', 'json/', '', 'message/', 'links/'],
    'delivery/': ['answers/', '', 'message/', 'links/'],
    'runs/': ['answers/', 'json/', '', 'dispatch/'],
    'actions/': ['answers/', 'json/', ''],
    'tokens/': ['answers/', 'json/', ''],
  },
  'src/core/runs/': {
    'merge/': [],
    'sessions/': ['merge/'],
    '': ['merge/', 'sessions/'],
  },
}

/** The layer of a file: the longest key that its path begins with. */
export function layerOf(path: string): string {
  const fitting = Object.keys(LAYERS).filter((key) => new RegExp(`^${key.replace('*', '[^/]+')}`).test(path))
  return fitting.sort((a, b) => b.length - a.length)[0] ?? ''
}
