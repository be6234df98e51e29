import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url))

/** Files of `src` with a function called while `work` runs, by V8's coverage. Modules must be loaded before. */
export async function executedFiles(work: () => Promise<unknown>): Promise<readonly string[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const called = result.filter(({ functions }) =>
      functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    )
    const paths = called.flatMap(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : []))
    return paths.flatMap((path) => (path.startsWith(SRC) ? path.slice(SRC.length) : [])).sort()
  } finally {
    session.disconnect()
  }
}
