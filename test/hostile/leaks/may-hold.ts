/**
 * What may come out where. A cell says who gets to see it: `-` nobody, `sender` only whoever sent it (or a post of the same
 * credential's did), `host` the host's own code or console.
 *
 * | column | is |
 * |---|---|
 * | log | lines of the logger that the host gave; those of the one it has by default are in the column process |
 * | problem | a refusal: headers and body; pointers name keys, and nothing says a value |
 * | answer | any other answer |
 * | preview | the answer to a dry run: for applications alone, to see what would be sent |
 * | start | what is thrown while a host is put together |
 * | call | what the host's own calls give and throw: `dispatches.list` throws what the store threw |
 * | span, metric | what the exporter for OpenTelemetry gives the SDK, with its defaults |
 * | alarm | what a queue says to Redis or PostgreSQL |
 * | limiter | the keys that a rate limiter counts under |
 * | process | the console, rejections that nobody looked at, warnings, what got as far as the framework's error handler |
 * | look | `inspect` and JSON of what a host holds: verifiers, channels, stores, clients, Sallyport itself |
 */
const TABLE = `
| kind                        | log | problem | answer | preview | start | call | span | metric | alarm | limiter | process | look |
|-----------------------------|-----|---------|--------|---------|-------|------|------|--------|-------|---------|---------|------|
| application secret          | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| session token               | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| session and user of a token | -   | -       | sender | -       | -     | host | host | -      | -     | -       | -       | -    |
| grant of a token            | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| id of a token               | -   | -       | -      | -       | -     | -    | -    | -      | -     | host    | -       | -    |
| signing key                 | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| webhook secret              | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| credentials for a provider  | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| connection string           | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| recipient as sent           | -   | -       | sender | -       | -     | host | -    | -      | -     | -       | -       | -    |
| address of the directory's  | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| attributes of a recipient   | -   | -       | -      | host    | -     | -    | -    | -      | -     | -       | -       | -    |
| event data                  | -   | -       | sender | sender  | -     | host | -    | -      | -     | -       | -       | -    |
| keys of what is sent        | -   | sender  | sender | -       | -     | host | -    | -      | -     | -       | -       | -    |
| content                     | -   | -       | -      | host    | -     | -    | -    | -      | -     | -       | -       | -    |
| idempotency key             | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| session id                  | -   | -       | sender | sender  | -     | host | host | -      | -     | -       | -       | -    |
| run: what it says           | -   | -       | sender | -       | -     | host | -    | -      | -     | -       | -       | -    |
| run: kind of its error      | -   | -       | sender | -       | -     | host | host | host   | -     | -       | -       | -    |
| answer of a provider's      | -   | -       | -      | -       | -     | -    | -    | -      | -     | -       | -       | -    |
| what a port threw           | -   | -       | -      | -       | -     | host | -    | -      | -     | -       | -       | -    |
| what own code threw         | host | -      | -      | -       | -     | host | -    | -      | -     | -       | host    | -    |
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

/** Who gets to see it. */
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

/** Who may see a kind of secret in a column. */
export function readerOf(kind: string, column: Column): Reader {
  const cell = CELLS.get(kind)?.get(column)
  if (cell !== '-' && cell !== 'sender' && cell !== 'host') throw new TypeError(`no cell for ${kind}, ${column}`)
  return cell
}
