// Imports every entry of the installed package, and prints their names and the changes to the process.
import { createRequire } from 'node:module'

const { exports } = createRequire(import.meta.url)('sallyport/package.json')
const entries = Object.keys(exports).filter((path) => path !== './package.json')
// BullMQ changes the process when it is first loaded.
await import('bullmq')
const globals = new Set(Reflect.ownKeys(globalThis))
const handles = process.getActiveResourcesInfo().length

const names = {}
for (const path of entries) {
  const entry = `sallyport${path.slice(1)}`
  names[entry] = Object.keys(await import(entry))
}

const newGlobals = Reflect.ownKeys(globalThis).filter((key) => !globals.has(key))
const newHandles = process.getActiveResourcesInfo().slice(handles)
process.stdout.write(JSON.stringify({ names, newGlobals, newHandles }))
