/**
 * The endpoints as an OpenAPI document.
 * @module sallyport/openapi
 */

import { CALL_DESCRIPTIONS } from '../actions/describe.ts'
import { POST_DESCRIPTIONS } from '../actions/describe-posts.ts'
import { CALLS, POSTS } from '../actions/table.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { arrayOf, matching, text, word } from '../options/checks.ts'
import { type Checks, nested, readOptions, required } from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import { PLUGIN_ENDPOINTS } from '../plugins/list.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import { callOperation } from './call-operations.ts'
import type { DescribedEndpoints } from './described-endpoints.ts'
import { EXCHANGES } from './exchanges.ts'
import type { OpenApiDocument, OpenApiPath, OpenApiServer } from './open-api-document.ts'
import { HEADERS, PARAMETERS } from './parameters-and-headers.ts'
import { postOperation } from './post-operations.ts'
import { problemExamples, sharedProblemResponses } from './problems.ts'
import { requestSchemas } from './request-schemas.ts'
import { usedComponents } from './used-components.ts'

export type {
  OpenApiComponents,
  OpenApiDocument,
  OpenApiExample,
  OpenApiHeader,
  OpenApiMediaType,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiPath,
  OpenApiReference,
  OpenApiRequestBody,
  OpenApiResponse,
  OpenApiSchema,
  OpenApiSecurityScheme,
  OpenApiServer,
} from './open-api-document.ts'

/** Options of {@link openapiDocument}. */
export interface OpenApiOptions {
  /** Default: `Sallyport`. */
  readonly title?: string | undefined
  /** Version of the host's interface. Default: `1.0.0`, the version of Sallyport's interface, not of the package. */
  readonly version?: string | undefined
  /** Base URLs of `/api/…`. Default: `/`, the root of the server that served the document; give the `basePath` if there is one. */
  readonly servers?: readonly OpenApiServer[] | undefined
  /** The host's catalogue: limits `eventType` to its events. Default: any text. */
  readonly events?: Pick<EventCatalog, 'eventTypes'> | undefined
  /** Result of `createSallyport(…)`: limits the document to the endpoints of this host. Default: all endpoints. */
  readonly sallyport?: { readonly endpoints: Pick<Endpoints, 'actions'> } | undefined
}

const CHECKS: Checks<OpenApiOptions> = {
  title: word,
  version: word,
  servers: arrayOf(
    nested<OpenApiServer>({ url: required(word), description: text }),
    'must be a list of at least one server: [{ url: "/" }]',
    1,
  ),
  events: (value) =>
    Array.isArray(Object(value).eventTypes) ? undefined : 'has no eventTypes; pass what defineEvents(…) returned',
  sallyport: matching(
    (value) => Array.isArray(Object(value).endpoints?.actions),
    'must be what createSallyport(…) gave',
    kindOf,
  ),
}

const DESCRIPTION = [
  'Turns events for recipients into notifications, and records the runs of agents.',
  'Lengths of texts are counted in UTF-16 units. Clients are to pass over fields that they do not know.',
].join('\n\n')

const TOKENS = [
  'An application secret (`sp_…`), or a session token (a JWT). A session token records runs of its own session alone, and',
  'dispatches only the events, channels and recipients that it grants. In the `Authorization` header, nowhere else.',
].join(' ')

/**
 * Describes the endpoints as an OpenAPI 3.1 document, from the table of actions, the validation schemas and the table of problem codes. The
 * result is plain JSON without shared parts: you may edit it. Serve it with `toExpress(sallyport, { openapi: openapiDocument() })`, or
 * write it to a file and generate a client from it.
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function openapiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const read = readOptions('openapiDocument', options, CHECKS)
  const { title = 'Sallyport', version = '1.0.0', servers = [{ url: '/' }], events, sallyport } = read
  const paths = pathsOf(offeredBy(sallyport), events)
  const used = Object.values(paths).flatMap(({ get, post }) => (get ?? post)?.tags ?? [])
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: { title, version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers,
    tags: TAGS.filter(({ name }) => used.includes(name)),
    security: [{ bearer: [] }],
    paths,
    components: usedComponents(paths, {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: TOKENS } },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: sharedProblemResponses(),
      examples: problemExamples(),
      schemas: requestSchemas(events?.eventTypes),
    }),
  }
  // `structuredClone` would keep repeated objects identical.
  return JSON.parse(JSON.stringify(document))
}

const TAGS = [
  { name: 'outbound', description: 'Events that become notifications.' },
  { name: 'agents', description: 'Runs of agents, the sessions that they belong to, and their tokens.' },
]

function offeredBy(sallyport: OpenApiOptions['sallyport']): (name: string) => boolean {
  if (!sallyport) return () => true
  const offered = sallyport.endpoints.actions.filter(({ run }) => run !== undefined).map(({ name }) => name)
  return (name) => offered.includes(name)
}

function pathsOf(isOffered: (name: string) => boolean, events: OpenApiOptions['events']): OpenApiDocument['paths'] {
  const known = EXCHANGES.filter(({ request: { eventType } }) => isOf(events, eventType))
  const corePosts = Object.values(POSTS).flatMap((action) => {
    const description = POST_DESCRIPTIONS[action.name]
    return description ? [{ action, description }] : []
  })
  const all: readonly DescribedEndpoints[] = [
    { posts: corePosts, calls: CALLS, descriptions: CALL_DESCRIPTIONS },
    ...PLUGIN_ENDPOINTS,
  ]
  const posts = all
    .flatMap((each) => each.posts ?? [])
    .filter(({ action: { name } }) => isOffered(name))
    .map(({ action, description }) => [action.path, { post: postOperation(action, description, known) }] as const)
  const calls = all.flatMap((each) =>
    each.calls.flatMap((action): [string, OpenApiPath][] => {
      const description = each.descriptions[action.name]
      if (!description || !isOffered(action.name)) return []
      const described = callOperation(action, description)
      return [[action.path, action.method === 'GET' ? { get: described } : { post: described }]]
    }),
  )
  return Object.fromEntries([...posts, ...calls])
}

/** Whether the catalogue has the event of an example. Also true without a catalogue, and for an example without an event. */
function isOf(events: OpenApiOptions['events'], eventType: unknown): boolean {
  return events === undefined || typeof eventType !== 'string' || events.eventTypes.includes(eventType)
}
