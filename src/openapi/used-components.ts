import { DEFINED } from './model-schema.ts'
import type { OpenApiDocument } from './open-api-document.ts'

type Components = Readonly<Record<string, Readonly<Record<string, object>>>>

/**
 * The components that paths refer to, directly or through others: those that references have with them, and those of the given ones that are
 * referred to by name. Security schemes stay.
 */
export function usedComponents(
  paths: OpenApiDocument['paths'],
  given: OpenApiDocument['components'],
): OpenApiDocument['components'] {
  const { securitySchemes, ...others } = given
  const known: Components = { ...others }
  const used = Object.fromEntries(Object.keys(known).map((kind) => [kind, {} as Record<string, object>]))

  function visit(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    if ('$ref' in value) follow(String(value.$ref), Object(value)[DEFINED])
    else for (const member of Object.values(value)) visit(member)
  }

  function follow(reference: string, defined: object | undefined): void {
    const [, , kind = '', name = ''] = reference.split('/')
    const definition = defined ?? known[kind]?.[name]
    const own = used[kind]
    if (!own || !definition || Object.hasOwn(own, name)) return
    own[name] = definition
    visit(definition)
  }

  visit(paths)
  return { securitySchemes, ...used } as OpenApiDocument['components']
}
