import { nearNames } from '../model/suggestions.ts'

const MAX_PATH = 60

/** Facts by the names that requests have for them. */
const FACTS: Readonly<Record<string, string>> = { recipient: 'recipient', eventData: 'data' }

/** The path that was probably meant by one whose first name is no fact, such as `total` or `eventData.total`. */
export function meantPath(path: string): string {
  const [root = ''] = /^[\w-]*/.exec(path) ?? []
  const [near] = nearNames(root, Object.keys(FACTS))
  const meant = near === undefined ? `data.${path}` : `${FACTS[near]}${path.slice(root.length)}`
  return meant.slice(0, MAX_PATH)
}
