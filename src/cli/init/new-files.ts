import { EVENTS_FILE, instanceFile } from './instance-files.ts'
import { instrumentationFile, ROUTE_FOLDER, routeFile } from './next-files.ts'
import type { Project } from './project.ts'
import { mountFile } from './server-files.ts'
import { type StoreName, storageFile } from './storage-file.ts'

/** A file to be written. */
export interface NewFile {
  /** Path from the folder of the code, without extension. */
  readonly name: string
  readonly text: string
}

/** The files of a project, in the order in which they are read. */
export function newFiles(project: Project, store: StoreName): readonly NewFile[] {
  const { framework, isTypeScript } = project
  const storage = store === 'memory' ? [] : [{ name: 'storage', text: storageFile(store, isTypeScript) }]
  return [
    { name: 'sallyport', text: instanceFile(project, store) },
    { name: 'events', text: EVENTS_FILE },
    ...storage,
    ...(framework === 'next'
      ? [
          { name: `${ROUTE_FOLDER}/route`, text: routeFile(project) },
          { name: 'instrumentation', text: instrumentationFile(project, store) },
        ]
      : [{ name: 'outbound', text: mountFile(framework, project, store) }]),
  ]
}
