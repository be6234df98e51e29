/** Whether two values of JSON are equal. An absent member equals one that is `undefined`. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    for (let at = 0; at < one.length; at++) if (!isSameJson(one[at], other[at])) return false
    return true
  }
  return !Array.isArray(other) && hasSameMembers(one, other) && hasMembersOf(one, other)
}

function hasSameMembers(one: object, other: object): boolean {
  for (const name of Object.keys(one)) if (!isSameJson(Reflect.get(one, name), ownOf(other, name))) return false
  return true
}

function hasMembersOf(one: object, other: object): boolean {
  for (const name of Object.keys(other))
    if (ownOf(one, name) === undefined && Reflect.get(other, name) !== undefined) return false
  return true
}

/** Names come from callers, who may use those of a prototype. */
function ownOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}
