import { ROUTES } from '../http/routes.ts'
import { arrayOf, bool, text, word } from '../options/checks.ts'
import { type Checks, nested, readOptions, required } from '../options/read-options.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import { BATCH_SCHEMAS } from './batch-schemas.ts'
import { DELIVERY_SCHEMAS } from './delivery-schemas.ts'
import { DISPATCH_ANSWER_SCHEMAS } from './dispatch-answer-schemas.ts'
import { EXCHANGES } from './exchanges.ts'
import type { OpenApiDocument, OpenApiSchema, OpenApiServer } from './open-api-document.ts'
import { operation } from './operations.ts'
import { HEADERS, PARAMETERS } from './parameters-and-headers.ts'
import { problemExampleComponents } from './problem-examples.ts'
import { sharedProblemResponses } from './problem-responses.ts'
import { PROBLEM_SCHEMAS } from './problem-schema.ts'
import { requestSchemas } from './request-schemas.ts'
import { RUN_ANSWER_SCHEMAS } from './run-answer-schemas.ts'

/** What a document says of the host that it is for. */
export interface OpenApiOptions {
  /** Default: `Sallyport`. */
  readonly title?: string | undefined
  /** The version of the host's interface. Default: that of Sallyport's own, which is not the version of the package. */
  readonly version?: string | undefined
  /**
   * Where the endpoints are: what stands before `/api/…`. Default: `/`, the root of the server that the document came from;
   * with a `basePath` give that.
   */
  readonly servers?: readonly OpenApiServer[] | undefined
  /** The catalogue of the host: `eventType` is one of its events, instead of any text. */
  readonly events?: Pick<EventCatalog, 'eventTypes'> | undefined
  /** `false`: without `POST /api/outbound/dispatch`, for a host that only records runs. Default: `true`. */
  readonly dispatch?: boolean | undefined
}

const CHECKS: Checks<OpenApiOptions> = {
  title: word,
  version: word,
  servers: arrayOf(
    nested<OpenApiServer>({ url: required(word), description: text }),
    'must be a list of at least one server',
    1,
  ),
  events: (value) => (Array.isArray(Object(value).eventTypes) ? undefined : 'has no eventTypes'),
  dispatch: bool,
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
 * The endpoints as an OpenAPI 3.1 document: from the route table, the schemas that the handlers read bodies with, and the
 * table of problem codes. Plain JSON, and yours to edit: it shares nothing with any other.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong with the options.
 *
 * Serve it with `toExpress(sallyport, { openapi: openapiDocument() })`, or write it to a file and generate a client from it.
 */
export function openapiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const read = readOptions('openapiDocument', options, CHECKS)
  const { title = 'Sallyport', version = '1.0.0', servers = [{ url: '/' }], events, dispatch = true } = read
  const routes = ROUTES.filter(({ operation }) => dispatch || operation !== 'dispatch')
  const known = EXCHANGES.filter(({ request: { eventType } }) => isOf(events, eventType))
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: { title, version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers,
    tags: [
      ...(dispatch ? [{ name: 'outbound', description: 'Events that become notifications.' }] : []),
      { name: 'agents', description: 'Runs of agents, and the sessions that they belong to.' },
    ],
    security: [{ bearer: [] }],
    paths: Object.fromEntries(routes.map((route) => [route.path, { post: operation(route, known) }])),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: TOKENS } },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: sharedProblemResponses(),
      examples: problemExampleComponents(),
      schemas: schemas(events),
    },
  }
  // `structuredClone` would keep what is in several places one object.
  return JSON.parse(JSON.stringify(document))
}

/** Whether an example is of an event that the catalogue has; without a catalogue, and of anything else, it may be. */
function isOf(events: OpenApiOptions['events'], eventType: unknown): boolean {
  return events === undefined || typeof eventType !== 'string' || events.eventTypes.includes(eventType)
}

function schemas(events: OpenApiOptions['events']): Readonly<Record<string, OpenApiSchema>> {
  const answers = [
    ...DISPATCH_ANSWER_SCHEMAS,
    ...DELIVERY_SCHEMAS,
    ...RUN_ANSWER_SCHEMAS,
    ...BATCH_SCHEMAS,
    ...PROBLEM_SCHEMAS,
  ]
  return {
    ...requestSchemas(events?.eventTypes),
    ...Object.fromEntries(answers.map(({ name, definition }) => [name, definition])),
  }
}
