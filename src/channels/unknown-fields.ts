/** Names the template fields that a channel does not know, and those that it does. */
export function unknownFields(fields: readonly string[], known: readonly string[]): string | undefined {
  const unknown = fields.filter((field) => !known.includes(field))
  if (unknown.length === 0) return undefined
  return `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${unknown.join(', ')} (known: ${known.join(', ')})`
}
