import type { Plugin } from '../../src/plugins/plugin.ts'
import { PLUGIN_SAMPLES } from '../plugins/list.ts'
import type { Kept } from './plugin-sample.ts'

/**
 * Every plugin of `src/plugins/`: for tests of what is common to all, which are to pass without any one of them.
 *
 * @param options Options of a plugin, by its name, or `false` to leave it out. Default: those of its sample.
 */
export function everyPlugin(options: Readonly<Record<string, object | false>> = {}): readonly Plugin[] {
  return Object.entries(PLUGIN_SAMPLES).flatMap(([name, sample]) => {
    const given = options[name]
    return given === false ? [] : [sample.create(given)]
  })
}

/** Those of {@link everyPlugin} that a host takes which only records runs. */
export function everyRunPlugin(options?: Readonly<Record<string, object | false>>): readonly Plugin[] {
  return everyPlugin(options).filter(({ needs = [] }) => !needs.includes('dispatch'))
}

/** Stores what every plugin keeps of a recipient. */
export async function keepInEvery(kept: Kept): Promise<void> {
  for (const { keep } of Object.values(PLUGIN_SAMPLES)) await keep?.(kept)
}
