import type { Project } from './project.ts'
import type { StoreName } from './storage-file.ts'

/** Folder of the route below the folder of the code. */
export const ROUTE_FOLDER = 'app/api/[...path]'

/** The route file of Sallyport's paths in an App Router. */
export function routeFile({ imported }: Project): string {
  return `import { after } from 'next/server'
import { toFetch } from 'sallyport/fetch'
import { sallyport } from '../../../sallyport${imported}'

const handler = toFetch(sallyport, { waitUntil: after })

export { handler as DELETE, handler as GET, handler as HEAD, handler as OPTIONS, handler as PATCH, handler as POST, handler as PUT }
`
}

export function instrumentationFile(project: Project, store: StoreName): string {
  return `// For next start. Delete this file on a serverless host.
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
${startLines(project, store).join('\n')}
}
`
}

/** Lines of a function `register`, within it. */
export function startLines({ imported }: Project, store: StoreName): readonly string[] {
  const opening = [`  const { storage } = await import('./storage${imported}')`, '  await storage.open()']
  return [
    ...(store === 'memory' ? [] : opening),
    `  const { sallyport } = await import('./sallyport${imported}')`,
    '  sallyport.worker.start()',
  ]
}
