const WIDTH = 120

/** Prints JSON as the project's formatter does: a list of plain values on one line, if it fits. */
export function printJson(value: unknown, before = '', indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const isPlain = value.every((item) => typeof item !== 'object' || item === null)
    if (isPlain && before.length + line.length < WIDTH) return line
    return `[\n${value.map((item) => deeper + printJson(item, deeper, deeper)).join(',\n')}\n${indent}]`
  }
  const members = Object.entries(value).map(([key, member]) => {
    const start = `${deeper}${JSON.stringify(key)}: `
    return start + printJson(member, start, deeper)
  })
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`
}
