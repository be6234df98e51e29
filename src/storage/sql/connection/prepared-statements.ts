/** Statements that one connection keeps prepared. The frequent ones come first, because they run at once. */
const MAX_STATEMENTS = 100

/** Other copies of this module may share the connections of the process. */
let prefix: string | undefined

/** A prepared statement of `pg`. Kysely passes the text of a query to its driver unchanged; a logger may print it. */
class PreparedStatement {
  readonly name: string
  readonly text: string

  constructor(name: string, text: string) {
    this.name = name
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

const statements = new Map<string, PreparedStatement>()

/** A statement that `pg` prepares once for each connection; the text itself beyond the first 100 texts. */
export function prepared(text: string): string {
  let statement = statements.get(text)
  if (statement === undefined) {
    if (statements.size >= MAX_STATEMENTS) return text
    prefix ??= `sallyport_${crypto.randomUUID().slice(0, 8)}`
    statement = new PreparedStatement(`${prefix}_${statements.size}`, text)
    statements.set(text, statement)
  }
  // Kysely's type has only texts, but `pg` takes both.
  return statement as unknown as string
}
