import type { Plugin } from '../../src/plugins/plugin.ts'

/** Creates a plugin for tests that take every plugin there is, with all of its endpoints. Options replace those of the sample. */
export type PluginSample = (options?: object) => Plugin
