/**
 * Allowed readers of each kind of secret in each output. `-`: none. `sender`: a sender that sent it with the same
 * credential. `host`: code or console of the host.
 *
 * | column | is |
 * |---|---|
 * | log | lines of the given logger; those of the default logger are in the column process |
 * | problem | a refusal, headers and body: pointers name keys, and no value appears |
 * | answer | any other answer |
 * | preview | the answer to a dry run, for applications only |
 * | start | errors at start-up |
 * | call | results and errors of the host's own calls: `dispatches.list` throws the store's error |
 * | span, metric | data from the exporter for OpenTelemetry, with its defaults |
 * | alarm | data that a queue sends to Redis or PostgreSQL |
 * | limiter | keys of a rate limiter |
 * | process | console, unhandled rejections, warnings, errors that reach the framework |
 * | look | `inspect` and JSON of objects: verifiers, channels, stores, clients, Sallyport itself |
 */
const TABLE = `
| kind                        | log | problem | answer | preview | start | call | span | metric | alarm | limiter | process | look |
|-----------------------------|-----|---------|--------|---------|-------|------|------|--------|-------|---------|---------|------|
| application secret          | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| session token               | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| session and user of a token | -   | -       | sender | -       | -     | host | host | -      | -     | -       | -       | -    |
| grant of a token            | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| id of a token               | -   | -       | -      | -       | -     | host | -    | -      | -     | host    | -       | -    |
| signing key                 | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| webhook secret              | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| credentials for a provider  | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| connection string           | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| recipient as sent           | -   | -       | sender | -       | -     | host | -    | -      | -     | -       | -       | -    |
| address in the directory    | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| attributes of a recipient   | -   | -       | -      | host    | -     | -    | -    | -      | -     | -       | -       | -    |
| event data                  | -   | -       | sender | sender  | -     | host | -    | -      | -     | -       | -       | -    |
| keys of sent data           | -   | sender  | sender | -       | -     | host | -    | -      | -     | -       | -       | -    |
| content                     | -   | -       | -      | host    | -     | -    | -    | -      | -     | -       | -       | -    |
| idempotency key             | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| session id                  | -   | -       | sender | sender  | -     | host | host | -      | -     | -       | -       | -    |
| run: content                | -   | -       | sender | -       | -     | host | -    | -      | -     | -       | -       | -    |
| run: error type             | -   | -       | sender | -       | -     | host | host | host   | -     | -       | -       | -    |
| text of a provider          | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| error of a port             | -   | -       | -      | -       | -     | host | -    | -      | -     | -       | -       | -    |
| error of the host's code    | host | -      | -      | -       | -     | host | -    | -      | -     | -       | host    | -    |
`

export type Column =
  | 'log'
  | 'problem'
  | 'answer'
  | 'preview'
  | 'start'
  | 'call'
  | 'span'
  | 'metric'
  | 'alarm'
  | 'limiter'
  | 'process'
  | 'look'

export type Reader = '-' | 'sender' | 'host'

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .filter((line) => !line.startsWith('|--'))
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )

const CELLS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  rows.map(([kind = '', ...cells]) => [kind, new Map(cells.map((cell, at) => [head[at + 1] ?? '', cell]))]),
)

/** Gives the allowed reader of a kind of secret in a column. */
export function readerOf(kind: string, column: Column): Reader {
  const cell = CELLS.get(kind)?.get(column)
  if (cell !== '-' && cell !== 'sender' && cell !== 'host') throw new TypeError(`no cell for ${kind}, ${column}`)
  return cell
}
