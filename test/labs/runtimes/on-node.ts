import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { entriesLoad } from './checks/entries.ts'
import { memoryContracts, sqliteContracts, startedWorker, withoutHttp } from './checks/inside.ts'
import { guardedWebhook } from './checks/webhook.ts'
import { wire } from './checks/wire.ts'
import { nodePackage } from './platform.ts'
import { startServer } from './program.ts'
import { fetchPackage } from './registry.ts'
import type { Runtime } from './runtime.ts'

const OWN_MAJOR = process.versions.node.split('.')[0]

/** Suppresses the warning that `node:sqlite` is experimental. */
const NO_NEWS = '--disable-warning=ExperimentalWarning'

/** No installed package may generate code from strings. */
const NO_STRINGS = '--disallow-code-generation-from-strings'

/** A release of Node: the current one if it has this major version, otherwise the newest of it. */
export function onNode(major: string): Runtime {
  return {
    name: `Node ${major}`,
    async open({ project, cache, secrets, names }) {
      const { program, version } = await nodeOf(major, cache)
      const { ports, errors, close } = await startServer([program, NO_NEWS, NO_STRINGS, 'node.mjs'], secrets, {
        cwd: project,
      })
      const inside = [withoutHttp, startedWorker, memoryContracts, ...(Number(major) >= 22 ? [sqliteContracts] : [])]
      const visit = (mount: string) => ({
        name: `Node ${version}, ${mount}`,
        origin: `http://127.0.0.1:${ports[mount]}`,
        ...{ secrets, waitsUntil: false },
      })
      return {
        visits: [
          {
            target: visit('toFetch'),
            groups: [entriesLoad(names), ...wire, ...inside, guardedWebhook],
          },
          { target: visit('toNode'), groups: [...wire, startedWorker] },
        ],
        ...{ errors, close },
      }
    },
  }
}

async function nodeOf(major: string, cache: string): Promise<{ program: string; version: string }> {
  if (major === OWN_MAJOR) return { program: process.execPath, version: process.versions.node }
  const folder = await fetchPackage(cache, nodePackage(), major)
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return { program: join(folder, 'bin/node'), version }
}
