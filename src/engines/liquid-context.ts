import { Context, type Drop, type Scope } from 'liquidjs'
import { charge, countKeys } from './liquid-text.ts'

/**
 * What is thrown for a variable that is absent. By its name the library knows it where absence is allowed; it is no
 * `Error` because recording a stack for every optional field of a list takes longer than all the rest.
 */
export const ABSENT: Readonly<Error> = Object.freeze({
  name: 'InternalUndefinedVariableError',
  message: 'undefined variable',
})

/** Reads variables from plain JSON. */
export class PlainContext extends Context {
  // biome-ignore lint/correctness/useYield: the library awaits an iterator, plain JSON has nothing to wait for
  override *_getFromScope(
    scope: unknown,
    paths: (string | number | Drop)[] | string,
    strictVariables: boolean = this.strictVariables,
  ): Generator<unknown, unknown> {
    let value = scope
    for (const path of typeof paths === 'string' ? paths.split('.') : paths) {
      // The library's own signature takes an object, its code any value.
      value = this.readProperty(value as Scope, path)
      if (strictVariables && value === undefined) {
        charge(this, 100)
        throw ABSENT
      }
    }
    return value
  }

  /** `size` of an object lists all its fields. */
  override readProperty(object: Scope, key: string | number | Drop): unknown {
    if (key === 'size') charge(this, 16 * countKeys(object))
    return super.readProperty(object, key)
  }
}
