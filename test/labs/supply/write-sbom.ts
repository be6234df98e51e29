import { writeFile } from 'node:fs/promises'
import { sbom } from './sbom.ts'

/** Writes the bill of materials of a release, in both formats, to the current folder. */
await writeFile('sallyport.cdx.json', await sbom('cyclonedx'))
await writeFile('sallyport.spdx.json', await sbom('spdx'))
