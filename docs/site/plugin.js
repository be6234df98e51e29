/** Loads the TypeDoc plugin of this site, which is written in TypeScript. */
import { register } from 'tsx/esm/api'

const unregister = register()
export const { load } = await import('./plugin.ts')
await unregister()
