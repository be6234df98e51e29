import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Documents } from 'sallyport/storage/documents'

/** Documents in one JSON file, for one process. Each commit rewrites the file: for small amounts of data. */
export async function jsonFileDocuments(path: string): Promise<Documents> {
  const file = await readFile(path, 'utf8').catch((error) => (error.code === 'ENOENT' ? '{}' : Promise.reject(error)))
  let texts = new Map<string, string>(Object.entries(JSON.parse(file)))
  let last: Promise<unknown> = Promise.resolve()

  return {
    now: () => Date.now(),

    get: async (key) => texts.get(key),

    async list(prefix, { after, limit, reverse = false }) {
      const keys = [...texts.keys()].filter((key) => key.startsWith(prefix)).sort()
      if (reverse) keys.reverse()
      const rest = keys.filter((key) => after === undefined || (reverse ? key < after : key > after))
      return rest.slice(0, limit).map((key) => ({ key, text: texts.get(key) ?? '' }))
    },

    commit(changes) {
      const committed = last.then(async () => {
        if (changes.some(({ key, before }) => texts.get(key) !== before)) return false
        if (changes.every(({ before, after }) => before === after)) return true
        const next = new Map(texts)
        for (const { key, after } of changes) after === undefined ? next.delete(key) : next.set(key, after)
        await writeFile(`${path}.tmp`, JSON.stringify(Object.fromEntries(next)), { flush: true })
        await rename(`${path}.tmp`, path) // atomic
        texts = next
        return true
      })
      last = committed.catch(() => {})
      return committed
    },
  }
}
