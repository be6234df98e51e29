import { type Config, createConfig, lintFromString } from '@redocly/openapi-core'
import { type OpenApiSchema, openapiDocument } from '../../src/openapi/index.ts'

/** Messages of an independent linter under its strict rules: `<severity> <rule> <place> <message>`. */
export async function lint(document: object): Promise<string[]> {
  return reported(document, await createConfig({ extends: ['recommended-strict'] }))
}

async function reported(document: object, config: Config): Promise<string[]> {
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
  return problems.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${location[0]?.pointer} ${message}`,
  )
}

/** A value and the schema that it should fit. */
export interface Fit {
  readonly schema: OpenApiSchema
  readonly value: unknown
}

/**
 * Values that do not fit their schemas, as index and reason, by an independent linter.
 * @param fields `any` allows fields that a schema does not contain.
 */
export async function misfits(fits: readonly Fit[], fields: 'known' | 'any'): Promise<ReadonlyMap<number, string>> {
  const operations = fits.map(({ schema, value }, index) => {
    const content = { 'application/json': { schema, example: value } }
    return [`/${index}`, { post: { responses: { 200: { description: 'A value.', content } } } }]
  })
  const config = await createConfig({
    rules: {
      struct: 'error',
      'no-unresolved-refs': 'error',
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: fields === 'any' },
    },
  })
  const found = new Map<number, string>()
  for (const line of await reported({ ...openapiDocument(), paths: Object.fromEntries(operations) }, config)) {
    const index = /paths\/~1(\d+)\/.*\/example/.exec(line)?.[1]
    if (index === undefined) throw new Error(line)
    if (!found.has(Number(index))) found.set(Number(index), line)
  }
  return found
}
