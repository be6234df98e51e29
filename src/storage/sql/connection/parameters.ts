import type { Dialect } from './dialects.ts'

/** Collects the parameters of a statement in the order in which it names them. */
export class Parameters {
  readonly values: unknown[] = []
  readonly #dialect: Dialect

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  add(value: unknown): string {
    return this.#dialect.parameter(this.values.push(value))
  }
}
