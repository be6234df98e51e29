import type { OpenApiDocument } from './open-api-document.ts'

const REFERENCE = /"#\/components\/(\w+)\/([^"/]+)"/g

/** The components that paths refer to, directly or through other components. Security schemes stay. */
export function usedComponents(
  paths: OpenApiDocument['paths'],
  components: OpenApiDocument['components'],
): OpenApiDocument['components'] {
  const all: Readonly<Record<string, object>> = { ...components }
  const used = new Set<string>()

  function visit(value: unknown): void {
    for (const [reference, kind = '', name = ''] of JSON.stringify(value).matchAll(REFERENCE)) {
      if (used.has(reference)) continue
      used.add(reference)
      visit(Object.entries(all[kind] ?? {}).find(([other]) => other === name)?.[1] ?? null)
    }
  }

  visit(paths)
  const kept = Object.entries(all).map(([kind, members]) => {
    const isUsed = (name: string): boolean => kind === 'securitySchemes' || used.has(`"#/components/${kind}/${name}"`)
    return [kind, Object.fromEntries(Object.entries(members).filter(([name]) => isUsed(name)))]
  })
  return Object.fromEntries(kept)
}
